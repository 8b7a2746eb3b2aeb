// add_caf: registers a type for the family "caf". Includes CAF's serialization, so include this header only in files
// that register types.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <troupe/framework/caf_family/caf_archive.hpp>
#include <troupe/framework/caf_family/caf_family.hpp>
#include <troupe/serializers/serializable.hpp>
#include <troupe/serializers/type_registry.hpp>

namespace troupe {

namespace detail {

template <class T>
consteval carriage find_caf_carriage() {
  if constexpr (std::is_const_v<T> || std::is_volatile_v<T>) {
    return carriage::refused;
  } else {
    constexpr auto way = caf_way_of<T>;
    if constexpr (way == caf_way::none || way == caf_way::network)
      return carriage::refused;
    else if constexpr (is_caf_handle<T> || way == caf_way::inspect || way == caf_way::builtin
                       || way == caf_way::attached)
      return carriage::whole;
    else if constexpr (way == caf_way::fields || way == caf_way::form)
      return obstacle_of<T> == obstacle::none ? carriage::by_parts : carriage::refused;
    else
      return carriage::by_parts;
  }
}

} // namespace detail

/// A type can travel if it has an inspect function; its parts are not checked then. A described type can travel if all
/// its parts can.
template <>
struct carriage_rule<caf_family> {
  template <class T>
  static constexpr carriage of = detail::find_caf_carriage<T>();
};

namespace detail {

template <class T>
caf_functions caf_functions_of() {
  static_assert(std::is_default_constructible_v<T>, "an inspect function needs a value that is there already");
  return {.write =
              [](caf_writer& to, const void* value) {
                return to.apply(*const_cast<T*>(static_cast<const T*>(value))); // Saving does not change the value.
              },
          .read = [](caf_reader& from, void* target) { return from.apply(*static_cast<T*>(target)); },
          .by_description = caf_way_of<T> == caf_way::fields || caf_way_of<T> == caf_way::form};
}

} // namespace detail

/// Does the same as `types.add<T>(alias)`, and also lets the family "caf" carry the type: by its `inspect`, or else by
/// its TROUPE_DESCRIBE or codec<T>. A type that has only an inspect can travel by no other family. If the type is
/// already registered with the same alias, the family is added to it. Throws registration_error as `types.add` does.
///
///     template <class Inspector> typename Inspector::result_type inspect(Inspector& f, lamp& x) { return f(x.room); }
///     troupe::add_caf<lamp>(types, "home.lamp");
template <class T>
requires serializable<T, caf_family>
void add_caf(type_registry& types, std::string alias) {
  types.add<T>(std::move(alias));
  if (const auto* entry = types.find<T>())
    entry->attach(std::make_shared<caf_functions>(detail::caf_functions_of<T>()));
}

} // namespace troupe
