// add_cereal: registers a type also for the family "cereal". Includes the cereal library with its functions for the
// standard library's types. Link troupe::cereal, and include this header only where types are registered.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <cereal/types/array.hpp>
#include <cereal/types/chrono.hpp>
#include <cereal/types/deque.hpp>
#include <cereal/types/forward_list.hpp>
#include <cereal/types/list.hpp>
#include <cereal/types/map.hpp>
#include <cereal/types/optional.hpp>
#include <cereal/types/set.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/tuple.hpp>
#include <cereal/types/unordered_map.hpp>
#include <cereal/types/unordered_set.hpp>
#include <cereal/types/utility.hpp>
#include <cereal/types/variant.hpp>
#include <cereal/types/vector.hpp>

#include <troupe/serializers/cereal/cereal_archive.hpp>
#include <troupe/serializers/cereal/cereal_family.hpp>
#include <troupe/serializers/serializable.hpp>
#include <troupe/serializers/type_registry.hpp>

namespace troupe {

namespace detail {

template <class T>
cereal_functions cereal_functions_of() {
  static_assert(::cereal::traits::is_output_serializable<T, cereal_writer>::value
                    && ::cereal::traits::is_input_serializable<T, cereal_reader>::value,
                "the type has neither cereal functions for any archive (serialize, save and load, ...), nor "
                "TROUPE_DESCRIBE or a codec<T>; or it has several sorts of cereal functions");
  return {.write = [](cereal_writer& to, const void* value) { to(*static_cast<const T*>(value)); },
          .read = [](cereal_reader& from, void* target) { from(*static_cast<T*>(target)); },
          .by_description = by_shape<T>};
}

// Cereal's traits accept a container without checking its elements. Therefore the elements are checked here.
template <class T>
consteval carriage find_cereal_carriage() {
  constexpr auto of = shape_of<T>;
  if constexpr (std::is_reference_v<T> || std::is_pointer_v<T> || std::is_function_v<T>)
    return carriage::refused; // For raw pointers cereal has only functions that refuse to compile.
  else if constexpr (!::cereal::traits::is_output_serializable<T, cereal_writer>::value
                     || !::cereal::traits::is_input_serializable<T, cereal_reader>::value)
    return carriage::refused;
  else if constexpr (of == shape::unsupported)
    return carriage::whole;
  else if constexpr (of == shape::structure || of == shape::hook)
    return brings_cereal<T>                   ? carriage::whole
           : obstacle_of<T> == obstacle::none ? carriage::by_parts
                                              : carriage::refused;
  else
    return carriage::by_parts;
}

} // namespace detail

/// A type travels if it has cereal functions, whatever its parts are, or if it is described and its parts travel.
template <>
struct carriage_rule<cereal_family> {
  template <class T>
  static constexpr carriage of = detail::find_cereal_carriage<T>();
};

/// Does the same as `types.add<T>(alias)`, and lets the family "cereal" carry the type as well: by its cereal
/// functions, in any form that cereal knows, else by its TROUPE_DESCRIBE or codec<T>. A type that has only cereal
/// functions travels by this family alone. The type may be registered already with the same alias. Throws as
/// type_registry::add() does.
///
///     struct lamp { template <class Archive> void serialize(Archive& archive) { archive(brightness); } ... };
///     troupe::add_cereal<lamp>(types, "home.lamp");
template <class T>
void add_cereal(type_registry& types, std::string alias) {
  types.add<T>(std::move(alias));
  if (const auto* entry = types.find<T>())
    entry->attach(std::make_shared<cereal_functions>(detail::cereal_functions_of<T>()));
}

} // namespace troupe
