// The messages between the two processes of the system tests.
#pragma once

#include <map>
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

/// Objects that refer to other objects, which refer to further ones.
struct shelf {
  std::string name;
  std::vector<object_ref<array<double>>> boxes;
};
TROUPE_DESCRIBE(shelf, name, boxes)

struct storeroom {
  std::map<std::string, object_ref<shelf>> shelves;
  object_ref<array<double>> newest;
};
TROUPE_DESCRIBE(storeroom, shelves, newest)

inline void add_messages(type_registry& types) {
  types.add<shelf>("test.shelf");
  types.add<storeroom>("test.storeroom");
  types.add<object_ref<storeroom>>("test.ref_storeroom");
  types.add<measurement>("test.measurement");
  types.add<object_ref<array<double>>>("test.ref_array");
}

/// Splits a text such as "typed,msgpack" at its commas.
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
