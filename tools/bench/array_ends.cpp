#include "bench/ends_of.hpp"

#include <cstddef>
#include <span>

namespace troupe::tools {

namespace {

struct array_carrier {
  using value = array<std::byte>;
  static value of(std::vector<char> bytes) {
    const auto all = std::as_bytes(std::span{bytes});
    return value{std::vector<std::byte>{all.begin(), all.end()}};
  }
  static std::span<const char> bytes(const value& from) {
    return {reinterpret_cast<const char*>(from.span().data()), from.size()};
  }
  static constexpr std::string_view alias = "array<byte>";
  static void add_type(type_registry&) {} // Every registry already has this type.
};

} // namespace

const ends& array_ends() {
  static const ends_of<array_carrier> made;
  return made;
}

const ends& ends_for(const std::string& family) {
#if TROUPE_BENCH_FAMILY_PROTOBUF
  if (family == "protobuf")
    return protobuf_ends();
#endif
  return family == "json" || family == "cereal" || family == "caf" ? struct_ends() : array_ends();
}

} // namespace troupe::tools
