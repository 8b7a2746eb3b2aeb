// Varints: integers of seven bits a byte, the lowest first, the highest bit of a byte set where another follows
// (LEB128).
#pragma once

#include <cstddef>
#include <cstdint>

namespace troupe {

inline constexpr std::size_t varint_bytes_max = 10;

/// Calls `put` with each byte of the value, of which there are at most `varint_bytes_max`.
constexpr void write_varint(std::uint64_t value, auto&& put) {
  for (; value >= 0x80; value >>= 7)
    put(static_cast<std::byte>(value | 0x80));
  put(static_cast<std::byte>(value));
}

/// Why there is no varint.
enum class varint_fault : std::uint8_t {
  none = 0,
  cut = 1,      ///< The bytes end within it.
  too_long = 2, ///< A shorter spelling would do.
  too_large = 3 ///< 64 bits do not hold the value.
};

/// How a number may be spelled.
enum class varint_spelling : std::uint8_t {
  shortest = 0, ///< Each number has one form only.
  any = 1       ///< Zeros may follow, as some writers of LEB128 pad.
};

/// Reads one: `next` gives the next byte into a std::byte&, or false where there is none.
template <varint_spelling Allowed>
[[nodiscard]] constexpr varint_fault read_varint(std::uint64_t& value, auto&& next) {
  constexpr unsigned last_shift = 63; // Of the tenth byte, which holds one bit.
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
