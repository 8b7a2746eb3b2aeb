#include "bench/ends_of.hpp"

#include <span>

#include <google/protobuf/wrappers.pb.h>
#include <troupe/serializers/protobuf/protobuf_type.hpp>

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(google::protobuf::BytesValue)

namespace troupe::tools {

namespace {

/// A message type that ships with protobuf, so that no code has to be generated.
struct protobuf_carrier {
  using value = google::protobuf::BytesValue;
  static value of(std::vector<char> bytes) {
    value made;
    made.set_value(bytes.data(), bytes.size());
    return made;
  }
  static std::span<const char> bytes(const value& from) { return from.value(); }
  static constexpr std::string_view alias = "troupe.bench.protobuf";
  static void add_type(type_registry& types) { add_protobuf<value>(types, std::string{alias}); }
};

} // namespace

const ends& protobuf_ends() {
  static const ends_of<protobuf_carrier> made;
  return made;
}

} // namespace troupe::tools
