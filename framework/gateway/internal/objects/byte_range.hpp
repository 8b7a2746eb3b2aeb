// The part of an object that a client wants.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace troupe::web {

struct byte_range {
  std::uint64_t first = 0;
  std::uint64_t size_bytes = 0;
};

enum class range_kind : std::uint8_t {
  whole, ///< No range, several, or none that can be read: all is served.
  part,
  unsatisfiable, ///< Behind the end.
};

struct wanted_bytes {
  range_kind kind = range_kind::whole;
  byte_range bytes;
};

/// Reads the header Range of RFC 9110 for an object of that size. An empty text means no header.
[[nodiscard]] wanted_bytes read_range(std::string_view header, std::uint64_t size_bytes);

} // namespace troupe::web
