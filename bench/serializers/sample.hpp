// The struct that all subjects carry: eight fields of different types, among them a string of 24 characters.
#pragma once

#include <troupe/serializers/describe.hpp>

#include <cstdint>
#include <string>

namespace bench {

struct sample {
  std::uint64_t id = 0;
  std::int32_t level = 0;
  double celsius = 0;
  float humidity = 0;
  bool is_active = false;
  std::int64_t taken_ns = 0;
  std::uint16_t port = 0;
  std::string sensor;

  friend bool operator==(const sample&, const sample&) = default;

  template <class Archive>
  void serialize(Archive& archive) { // For cereal.
    archive(id, level, celsius, humidity, is_active, taken_ns, port, sensor);
  }

  template <class Inspector>
  friend auto inspect(Inspector& inspector, sample& x) { // For CAF.
    return inspector(x.id, x.level, x.celsius, x.humidity, x.is_active, x.taken_ns, x.port, x.sensor);
  }
};
TROUPE_DESCRIBE(sample, id, level, celsius, humidity, is_active, taken_ns, port, sensor)

[[nodiscard]] inline sample a_sample() {
  return {.id = 0x1234'5678'9abc,
          .level = -70'000,
          .celsius = 21.4375,
          .humidity = 0.61F,
          .is_active = true,
          .taken_ns = 1'700'000'000'123'456'789,
          .port = 8'081,
          .sensor = "roof/north/thermometer-7"};
}

} // namespace bench
