// add_cereal: registers a type for the family "cereal" as well. Includes the cereal library, for the types of the
// standard library too; link troupe::cereal, and include it only where types are registered.
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

} // namespace detail

/// Does what `types.add<T>(alias)` does, and lets the family "cereal" carry the type too: by the cereal functions that
/// it brings, in whatever form cereal knows, else by its TROUPE_DESCRIBE or codec<T>. A type that has only cereal
/// functions travels by this family alone. A type that was registered before, with the same alias, is added to.
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
