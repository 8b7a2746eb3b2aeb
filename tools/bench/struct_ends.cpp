#include "bench/ends_of.hpp"

#include <span>

#include <troupe/framework/caf_family/caf_type.hpp>
#include <troupe/serializers/cereal/cereal_type.hpp>
#include <troupe/serializers/describe.hpp>

namespace troupe::tools {

struct bench_payload {
  std::vector<char> bytes;
};
TROUPE_DESCRIBE(bench_payload, bytes)

namespace {

struct struct_carrier {
  using value = bench_payload;
  static value of(std::vector<char> bytes) { return {std::move(bytes)}; }
  static std::span<const char> bytes(const value& from) { return from.bytes; }
  static constexpr std::string_view alias = "troupe.bench.payload";
  static void add_type(type_registry& types) {
    add_cereal<value>(types, std::string{alias});
    add_caf<value>(types, std::string{alias});
  }
};

} // namespace

const ends& struct_ends() {
  static const ends_of<struct_carrier> made;
  return made;
}

} // namespace troupe::tools
