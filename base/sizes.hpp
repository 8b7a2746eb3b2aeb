// Sizes in bytes: literals, and the form in which errors and reports print a size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace troupe {

inline namespace literals {

constexpr std::size_t operator""_KiB(unsigned long long count) {
  return static_cast<std::size_t>(count) << 10;
}
constexpr std::size_t operator""_MiB(unsigned long long count) {
  return static_cast<std::size_t>(count) << 20;
}
constexpr std::size_t operator""_GiB(unsigned long long count) {
  return static_cast<std::size_t>(count) << 30;
}

} // namespace literals

/// `number` in decimal digits, grouped by thousands: 91203 gives "91,203".
inline std::string grouped(std::uint64_t number) {
  auto digits = std::to_string(number);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), 1, ',');
  return digits;
}

} // namespace troupe
