// The upper bound of waits outside the store. Waits in store/ are at most 24 hours.
#pragma once

#include <algorithm>
#include <chrono>

namespace troupe {

/// 100 years. A longer wait, such as `milliseconds::max()`, would overflow when its nanoseconds are added to the time
/// of a clock.
inline constexpr std::chrono::milliseconds longest_wait = std::chrono::hours{24 * 365 * 100};

/// Returns `wait`, limited to the range from 0 to `longest_wait`.
[[nodiscard]] constexpr std::chrono::milliseconds bounded_wait(std::chrono::milliseconds wait) {
  return std::clamp(wait, std::chrono::milliseconds{0}, longest_wait);
}

} // namespace troupe
