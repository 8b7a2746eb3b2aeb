// How long to wait before a failed request is made again.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <random>

namespace troupe::membership {

/// Pauses that double from 50 ms to 2 s. Each is cut by a random part of up to a half, so that nodes that lost the
/// directory together do not come back together.
///
/// Threads: one at a time.
class retry_pause {
public:
  [[nodiscard]] std::chrono::milliseconds next() {
    whole_ = std::clamp(2 * whole_, shortest, longest);
    return whole_
           - std::chrono::milliseconds{std::uniform_int_distribution<std::int64_t>{0, whole_.count() / 2}(random_)};
  }
  void reset() noexcept { whole_ = {}; }

private:
  static constexpr std::chrono::milliseconds shortest{50};
  static constexpr std::chrono::milliseconds longest{2'000};

  std::chrono::milliseconds whole_{0};
  std::minstd_rand random_{std::random_device{}()};
};

} // namespace troupe::membership
