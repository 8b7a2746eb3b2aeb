// How long anything is waited for at most.
#pragma once

#include <algorithm>
#include <chrono>

namespace troupe {

/// A hundred years. A longer wait, `milliseconds::max()` for one, has more nanoseconds than a clock can add to its
/// time.
inline constexpr std::chrono::milliseconds longest_wait = std::chrono::hours{24 * 365 * 100};

/// The wait itself, but no longer than `longest_wait`, and no shorter than nothing.
[[nodiscard]] constexpr std::chrono::milliseconds bounded_wait(std::chrono::milliseconds wait) {
  return std::clamp(wait, std::chrono::milliseconds{0}, longest_wait);
}

} // namespace troupe
