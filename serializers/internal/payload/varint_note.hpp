// Varints in the notes that payload headers have: seven bits a byte, the lowest first, the highest bit of a byte set
// when another follows.
#pragma once

#include <cstdint>
#include <span>

#include <troupe/serializers/encode_output.hpp>

namespace troupe::detail {

inline constexpr std::size_t varint_bytes_max = 10;

inline void append_varint(byte_buffer& to, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    to.append(static_cast<std::byte>(value | 0x80));
  to.append(static_cast<std::byte>(value));
}

/// False when there is none, or one that 64 bits do not hold.
inline bool take_varint(std::span<const std::byte>& from, std::uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (from.empty())
      return false;
    const auto bits = std::to_integer<std::uint64_t>(from[0]);
    from = from.subspan(1);
    if (shift == 63 && bits > 1)
      return false;
    value |= (bits & 0x7f) << shift;
    if (bits < 0x80)
      return true;
  }
  return false;
}

} // namespace troupe::detail
