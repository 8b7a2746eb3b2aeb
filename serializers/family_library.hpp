// What makes a shared library one of families, which family_set::load() loads at run time.
#pragma once

#include <cstdint>

#include <troupe/base/version.hpp>
#include <troupe/serializers/family.hpp>
#include <troupe/serializers/type_entry.hpp>
#include <troupe/serializers/value_reader.hpp>
#include <troupe/serializers/value_writer.hpp>

/// Makes the shared library that it is compiled into one of families: its argument, a function, gets a family_set& and
/// adds them. Once in a library, outside of all namespaces:
///
///     TROUPE_FAMILIES([](troupe::family_set& families) { families.add(std::make_unique<lines_family>()); })
///
/// Link the library with troupe::serializers, like a program. Then it has its own copy of that code, unless the program
/// exports one (ENABLE_EXPORTS) or both link a shared one. Each of the three works: that code keeps no state in
/// variables, and types and exceptions are told apart by name on both sides. Only what stands in an unnamed namespace
/// is another type on the other side.
#define TROUPE_FAMILIES(...)                                                                                           \
  extern "C" [[gnu::visibility("default")]] const ::troupe::family_library troupe_family_library;                      \
  constinit const ::troupe::family_library troupe_family_library{.built_against = ::troupe::this_build,                \
                                                                 .add_families = __VA_ARGS__};

namespace troupe {

namespace detail {

/// Changes with the size of any class that a program and a library hand to each other, the standard library's too.
consteval std::uint32_t shared_sizes() {
  std::uint32_t sum = 0;
  for (const auto size : {sizeof(family_set), sizeof(type_entry), sizeof(type_registry), sizeof(context),
                          sizeof(encode_output), sizeof(frame), sizeof(value_writer), sizeof(value_reader),
                          sizeof(serialize_error), sizeof(std::expected<void, serialize_error>)})
    sum = sum * 101 + static_cast<std::uint32_t>(size);
  return sum;
}

} // namespace detail

/// Which Troupe something was compiled against. Programs and libraries of families work together when this is equal.
struct build_stamp {
  char version[16];
  std::uint32_t layout; ///< Raised by hand when what a family sees changes within a version, a virtual member for one.
  std::uint32_t sizes;  ///< See shared_sizes().
  friend bool operator==(const build_stamp&, const build_stamp&) = default;
};
inline constexpr build_stamp this_build{.version = TROUPE_VERSION, .layout = 1, .sizes = detail::shared_sizes()};

/// What TROUPE_FAMILIES makes; the library exports it as `troupe_family_library`. The stamp is looked at before
/// anything else, so it stays in front and as it is.
struct family_library {
  build_stamp built_against;
  void (*add_families)(family_set& to);
};

} // namespace troupe
