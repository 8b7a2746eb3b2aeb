// The current time of an event.
#pragma once

#include <algorithm>
#include <cassert>
#include <functional>
#include <utility>

#include <troupe/framework/internal/handles/timers.hpp>

namespace troupe::internal::handles {

/// Gives every event one time from its beginning to its end. Times never go back from one event to the next.
class event_clock {
public:
  explicit event_clock(std::function<time_point()> clock) : clock_(std::move(clock)) {}

  void begin_event() {
    assert(!is_in_event_);
    is_in_event_ = true;
    now_ = std::max(now_, clock_());
  }
  void end_event() { is_in_event_ = false; }
  [[nodiscard]] bool is_in_event() const noexcept { return is_in_event_; }
  /// Between events: the time of the last event.
  [[nodiscard]] time_point now() const noexcept { return now_; }

private:
  const std::function<time_point()> clock_;
  time_point now_{};
  bool is_in_event_ = false;
};

} // namespace troupe::internal::handles
