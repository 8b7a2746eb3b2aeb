// Varints (LEB128): integers in seven bits per byte, lowest bits first. The highest bit of a byte is set if another
// byte follows.
#pragma once

#include <cstddef>
#include <cstdint>

namespace troupe {

inline constexpr std::size_t varint_bytes_max = 10; // Of one encoding.

/// Calls `put` with each byte of the shortest encoding of the value, at most `varint_bytes_max` times.
constexpr void write_varint(std::uint64_t value, auto&& put) {
  for (; value >= 0x80; value >>= 7)
    put(static_cast<std::byte>(value | 0x80));
  put(static_cast<std::byte>(value));
}

/// Why reading a varint failed.
enum class varint_fault : std::uint8_t {
  none = 0,
  cut = 1,      ///< The bytes end inside the number.
  too_long = 2, ///< A shorter encoding exists.
  too_large = 3 ///< The value needs more than 64 bits, or its encoding more than 10 bytes.
};

/// Which encodings of a number are accepted.
enum class varint_spelling : std::uint8_t {
  shortest = 0, ///< Only the one shortest form.
  any = 1       ///< Padded forms as well, which some LEB128 writers produce.
};

/// Reads one varint into `value`. `next` stores the next byte into its std::byte& argument, or returns false if there
/// is none. If the result is not `none`, `value` is unspecified.
template <varint_spelling Allowed>
[[nodiscard]] constexpr varint_fault read_varint(std::uint64_t& value, auto&& next) {
  constexpr unsigned last_shift = 63; // Shift of the tenth byte, which holds one bit.
  value = 0;
  for (unsigned shift = 0;; shift += 7) {
    std::byte read{};
    if (!next(read))
      return varint_fault::cut;
    const auto bits = static_cast<std::uint64_t>(read);
    if (shift == last_shift && bits > 1)
      return varint_fault::too_large;
    value |= (bits & 0x7f) << shift;
    if (bits < 0x80)
      return Allowed == varint_spelling::shortest && bits == 0 && shift > 0 ? varint_fault::too_long
                                                                            : varint_fault::none;
  }
}

} // namespace troupe
