// Limits how often something may happen.
#pragma once

#include <algorithm>
#include <chrono>

namespace troupe::web {

/// Admits a number of events at once, and a number of events a second in the long run.
///
/// Threads: one at a time.
class rate_limit {
public:
  using clock = std::chrono::steady_clock;

  rate_limit(double per_second, double at_once) : per_second_(per_second), at_once_(at_once), left_(at_once) {}

  /// Whether one more event is admitted at `now`, which never goes back.
  [[nodiscard]] bool admit(clock::time_point now) {
    refill(now);
    if (left_ < 1)
      return false;
    left_ -= 1;
    return true;
  }
  /// Whether the next event would be admitted at `now`.
  [[nodiscard]] bool has_room(clock::time_point now) {
    refill(now);
    return left_ >= 1;
  }

private:
  void refill(clock::time_point now) {
    if (last_ != clock::time_point{})
      left_ = std::min(at_once_, left_ + per_second_ * std::chrono::duration<double>(now - last_).count());
    last_ = now;
  }

  double per_second_;
  double at_once_;
  double left_;
  clock::time_point last_{};
};

} // namespace troupe::web
