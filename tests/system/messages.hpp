// What the system tests' two processes say to each other.
#pragma once

#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include <troupe/framework/node.hpp>

namespace troupe::tests {

struct measurement {
  std::string place;
  double celsius = 0;
  std::vector<std::int64_t> counts;
  friend bool operator==(const measurement&, const measurement&) = default;
};
TROUPE_DESCRIBE(measurement, place, celsius, counts)

inline void add_messages(type_registry& types) {
  types.add<measurement>("test.measurement");
  types.add<object_ref<array<double>>>("test.ref_array");
}

/// "typed,msgpack" as a list.
inline std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    auto end = std::min(text.find(',', begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

} // namespace troupe::tests
