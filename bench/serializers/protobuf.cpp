#include "serializers/coders.hpp"

#if defined(TROUPE_BENCH_PROTOBUF)
#include "sample.pb.h"
#endif

namespace bench {

#if defined(TROUPE_BENCH_PROTOBUF)

namespace {

/// Converts from and to a user's own struct, because both sides of a program work with that. The message object is
/// reused, as protobuf's guide advises.
class protobuf_coder final : public coder {
public:
  bool encode(const sample& value) override {
    message_.set_id(value.id);
    message_.set_level(value.level);
    message_.set_celsius(value.celsius);
    message_.set_humidity(value.humidity);
    message_.set_is_active(value.is_active);
    message_.set_taken_ns(value.taken_ns);
    message_.set_port(value.port);
    message_.set_sensor(value.sensor);
    bytes_.clear();
    return message_.SerializeToString(&bytes_);
  }

  bool decode(sample& value) override {
    if (!message_.ParseFromString(bytes_))
      return false;
    value.id = message_.id();
    value.level = message_.level();
    value.celsius = message_.celsius();
    value.humidity = message_.humidity();
    value.is_active = message_.is_active();
    value.taken_ns = message_.taken_ns();
    value.port = static_cast<std::uint16_t>(message_.port());
    value.sensor = message_.sensor();
    return true;
  }

  [[nodiscard]] std::size_t size_bytes() const override { return bytes_.size(); }

private:
  proto::Sample message_;
  std::string bytes_;
};

} // namespace

coder_ptr make_protobuf_coder() {
  return std::make_unique<protobuf_coder>();
}

#else

coder_ptr make_protobuf_coder() {
  return nullptr;
}

#endif

} // namespace bench
