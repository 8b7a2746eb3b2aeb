// A message in two versions, which the tests of single families write and read.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <troupe/serializers/describe.hpp>

#include "rich.hpp"

namespace hellos {

struct hello {
  std::string node;
  std::uint32_t version = 1;
  std::vector<std::string> families;
  std::optional<std::int64_t> since;
  rich::color paint = rich::color::green;
};
TROUPE_DESCRIBE(hello, node, version, families, since, paint)

/// The same message of a later version.
struct hello_two {
  std::uint32_t version = 1;
  std::map<std::string, std::vector<int>> added;
  std::string node;
};
TROUPE_DESCRIBE(hello_two, version, added, node)

} // namespace hellos
