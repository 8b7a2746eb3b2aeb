#include "bench/families.hpp"

#include <memory>

#include <troupe/framework/caf_family/caf_family.hpp>
#include <troupe/serializers/cereal/cereal_family.hpp>
#if TROUPE_BENCH_FAMILY_PROTOBUF
#include <troupe/serializers/protobuf/protobuf_family.hpp>
#endif

namespace troupe::tools {

void add_families(family_set& to) {
  to.add(std::make_unique<cereal_family>());
  to.add(std::make_unique<caf_family>());
#if TROUPE_BENCH_FAMILY_PROTOBUF
  to.add(std::make_unique<protobuf_family>());
#endif
}

bool trusts_input(const std::string& family) {
  return family == "cereal" || family == "caf";
}

compression compression_of(const std::string& name) {
  return name == "lz4"         ? compression::lz4
         : name == "zstd"      ? compression::zstd
         : name == "automatic" ? compression::automatic
                               : compression::none;
}

} // namespace troupe::tools
