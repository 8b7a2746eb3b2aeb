// Waiting for changes of a store by any process.
#pragma once

#include <troupe/store/internal/table/control_view.hpp>

#include <chrono>
#include <cstdint>

namespace troupe::store::internal {

// The interval at which a waiter checks for dead processes, because a death wakes no waiter.
inline constexpr auto look_pause = std::chrono::milliseconds{100};

/// Signals changes of the store to waiters in all processes.
///
/// All waiters share one futex. A waiter raises the flag, reads the counter, checks its condition, and sleeps while the
/// counter is unchanged. A process that changes the store lowers the flag and, if it was up, increments the counter and
/// wakes all waiters. A flag left up by a dead waiter costs one system call.
///
/// Threads: any.
class change_signal {
public:
  explicit change_signal(control_view view) : view_(view) {}

  void announce() noexcept;

  /// The state of one waiter. The waiter checks its condition, calls wait() to register, checks again, then calls
  /// wait() to block, and so on. The second check closes the race.
  struct watch {
    std::uint32_t seen = 0;
    bool is_set = false;
  };
  void wait(watch& since, std::chrono::nanoseconds longest) noexcept;

private:
  control_view view_;
};

} // namespace troupe::store::internal
