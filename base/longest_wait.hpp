// The upper bound of all waits.
#pragma once

#include <algorithm>
#include <chrono>

namespace troupe {

/// 100 years. The nanoseconds of a longer wait, such as `milliseconds::max()`, overflow when added to a clock's time.
inline constexpr std::chrono::milliseconds longest_wait = std::chrono::hours{24 * 365 * 100};

/// `wait`, limited to 0 to `longest_wait`.
[[nodiscard]] constexpr std::chrono::milliseconds bounded_wait(std::chrono::milliseconds wait) {
  return std::clamp(wait, std::chrono::milliseconds{0}, longest_wait);
}

} // namespace troupe
