// Shared libraries of families, which family_set::load() loads at run time.
#pragma once

#include <cstdint>

#include <troupe/base/version.hpp>
#include <troupe/serializers/extend/value_reader.hpp>
#include <troupe/serializers/extend/value_writer.hpp>
#include <troupe/serializers/family.hpp>
#include <troupe/serializers/type_entry.hpp>

/// Makes a shared library a library of families. The argument is a function that gets a family_set& and adds the
/// families. Use this macro once in a library, at global scope:
///
///     TROUPE_FAMILIES([](troupe::family_set& families) { families.add(std::make_unique<lines_family>()); })
///
/// Link the library with troupe::serializers, like a program. The library then has its own copy of that code, unless
/// the program exports one (ENABLE_EXPORTS) or both link a shared one. All three ways work: the code keeps no state in
/// variables, and types and exceptions are compared by name on both sides. Only a type in an unnamed namespace is a
/// different type on the other side.
#define TROUPE_FAMILIES(...)                                                                                           \
  extern "C" [[gnu::visibility("default")]] const ::troupe::family_library troupe_family_library;                      \
  constinit const ::troupe::family_library troupe_family_library{.built_against = ::troupe::this_build,                \
                                                                 .add_families = __VA_ARGS__};

namespace troupe {

namespace detail {

/// A sum that changes with the size of any class that a program and a library exchange, including classes of the
/// standard library.
consteval std::uint32_t shared_sizes() {
  std::uint32_t sum = 0;
  for (const auto size : {sizeof(family_set), sizeof(type_entry), sizeof(type_registry), sizeof(context),
                          sizeof(encode_output), sizeof(frame), sizeof(value_writer), sizeof(value_reader),
                          sizeof(serialize_error), sizeof(std::expected<void, serialize_error>)})
    sum = sum * 101 + static_cast<std::uint32_t>(size);
  return sum;
}

} // namespace detail

/// The version of Troupe against which a binary was compiled. A program and a library of families need equal stamps;
/// otherwise family_set::load() fails with `not_loaded`.
struct build_stamp {
  char version[16];
  std::uint32_t layout; ///< Raised by hand if the interface for families changes within a version.
  std::uint32_t sizes;  ///< See shared_sizes().
  friend bool operator==(const build_stamp&, const build_stamp&) = default;
};
inline constexpr build_stamp this_build{.version = TROUPE_VERSION, .layout = 1, .sizes = detail::shared_sizes()};

/// TROUPE_FAMILIES defines an object of this type, which the library exports as `troupe_family_library`. The stamp is
/// checked before anything else, so it must stay in front and keep its layout.
struct family_library {
  build_stamp built_against;
  void (*add_families)(family_set& to);
};

} // namespace troupe
