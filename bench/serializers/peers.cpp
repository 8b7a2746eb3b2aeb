// Coders with cereal, msgpack-cxx and CAF, as their users would write them.
#include "serializers/coders.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>
#include <cereal/archives/portable_binary.hpp>
#include <cereal/types/string.hpp>
#include <msgpack.hpp>

#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

namespace {

class cereal_coder final : public coder {
public:
  bool encode(const sample& value) override {
    std::ostringstream out{std::ios::binary};
    {
      cereal::PortableBinaryOutputArchive archive{out};
      archive(value);
    }
    bytes_ = std::move(out).str();
    return true;
  }

  bool decode(sample& value) override {
    std::istringstream in{bytes_, std::ios::binary};
    cereal::PortableBinaryInputArchive archive{in};
    archive(value);
    return true;
  }

  [[nodiscard]] std::size_t size_bytes() const override { return bytes_.size(); }

private:
  std::string bytes_;
};

class msgpack_coder final : public coder {
public:
  bool encode(const sample& value) override {
    msgpack::sbuffer buffer;
    msgpack::packer<msgpack::sbuffer> packer{buffer};
    packer.pack_map(8);
    packer.pack("id");
    packer.pack(value.id);
    packer.pack("level");
    packer.pack(value.level);
    packer.pack("celsius");
    packer.pack(value.celsius);
    packer.pack("humidity");
    packer.pack(value.humidity);
    packer.pack("is_active");
    packer.pack(value.is_active);
    packer.pack("taken_ns");
    packer.pack(value.taken_ns);
    packer.pack("port");
    packer.pack(value.port);
    packer.pack("sensor");
    packer.pack(value.sensor);
    buffer_ = std::move(buffer);
    return true;
  }

  bool decode(sample& value) override {
    const auto unpacked = msgpack::unpack(buffer_.data(), buffer_.size());
    const auto& map = unpacked.get().via.map;
    for (std::uint32_t i = 0; i < map.size; ++i)
      take(map.ptr[i], value);
    return true;
  }

  [[nodiscard]] std::size_t size_bytes() const override { return buffer_.size(); }

private:
  static void take(const msgpack::object_kv& field, sample& value) {
    const std::string_view name{field.key.via.str.ptr, field.key.via.str.size};
    if (name == "id")
      field.val.convert(value.id);
    else if (name == "level")
      field.val.convert(value.level);
    else if (name == "celsius")
      field.val.convert(value.celsius);
    else if (name == "humidity")
      field.val.convert(value.humidity);
    else if (name == "is_active")
      field.val.convert(value.is_active);
    else if (name == "taken_ns")
      field.val.convert(value.taken_ns);
    else if (name == "port")
      field.val.convert(value.port);
    else if (name == "sensor")
      field.val.convert(value.sensor);
  }

  msgpack::sbuffer buffer_;
};

class caf_coder final : public coder {
public:
  bool encode(const sample& value) override {
    buffer_.clear();
    caf::binary_serializer sink{system_, buffer_};
    return !sink(value);
  }

  bool decode(sample& value) override {
    caf::binary_deserializer source{system_, buffer_};
    return !source(value);
  }

  [[nodiscard]] std::size_t size_bytes() const override { return buffer_.size(); }

private:
  caf::actor_system_config config_;
  caf::actor_system system_{config_};
  std::vector<char> buffer_;
};

} // namespace

coder_ptr make_cereal_coder() {
  return std::make_unique<cereal_coder>();
}

coder_ptr make_msgpack_coder() {
  return std::make_unique<msgpack_coder>();
}

coder_ptr make_caf_coder() {
  return std::make_unique<caf_coder>();
}

} // namespace bench
