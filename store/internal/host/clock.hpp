// The two clocks of the store. Both are clocks of the host, so that ages can be compared between processes.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>

namespace troupe::store::internal {

[[nodiscard]] inline std::int64_t clock_ns(clockid_t clock) {
  auto now = timespec{};
  ::clock_gettime(clock, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

[[nodiscard]] inline std::int64_t monotonic_ns() {
  return clock_ns(CLOCK_MONOTONIC);
}

/// Limits `time` to the range from 0 to 24 hours, because the nanoseconds of "for ever" would overflow.
[[nodiscard]] inline std::chrono::nanoseconds at_most_a_day(std::chrono::milliseconds time) {
  return std::clamp<std::chrono::milliseconds>(time, std::chrono::milliseconds{0}, std::chrono::hours{24});
}

/// A point in time that several waits share.
class deadline {
public:
  explicit deadline(std::chrono::milliseconds timeout) : at_ns_(monotonic_ns() + at_most_a_day(timeout).count()) {}

  [[nodiscard]] bool passed() const { return monotonic_ns() >= at_ns_; }

  [[nodiscard]] timespec when() const {
    return {static_cast<time_t>(at_ns_ / 1'000'000'000), static_cast<long>(at_ns_ % 1'000'000'000)};
  }

  /// The time that is left, rounded down; 0 once the deadline has passed.
  [[nodiscard]] std::chrono::milliseconds left() const {
    return std::max(none, std::chrono::milliseconds{(at_ns_ - monotonic_ns()) / 1'000'000});
  }

private:
  static constexpr std::chrono::milliseconds none{0};
  std::int64_t at_ns_;
};

/// A clock that is a few milliseconds coarse and much cheaper to read, for creation times.
[[nodiscard]] inline std::int64_t coarse_ns() {
  return clock_ns(CLOCK_MONOTONIC_COARSE);
}

} // namespace troupe::store::internal
