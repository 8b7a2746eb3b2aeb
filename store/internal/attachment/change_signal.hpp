// Waiting for changes of a store that any process may make.
#pragma once

#include <troupe/store/internal/table/control_view.hpp>

#include <chrono>
#include <cstdint>

namespace troupe::store::internal {

// Who waits looks this often whether somebody has died: the dead wake nobody.
inline constexpr auto look_pause = std::chrono::milliseconds{100};

/// Tells those who wait for a change of the store that there is one.
///
/// One futex for all: who waits raises the flag, reads the counter, looks, and sleeps while the counter is the same.
/// Who changes something lowers the flag and, where it was up, raises the counter and wakes everybody. A flag that
/// somebody dead has left up costs one call of the system.
///
/// Threads: any.
class change_signal {
public:
  explicit change_signal(control_view view) : view_(view) {}

  void announce() noexcept;

  /// Whoever waits for a change looks, calls, looks again, calls ...: the first call says that somebody waits, so that
  /// the second look misses nothing, the second one waits.
  struct watch {
    std::uint32_t seen = 0;
    bool is_set = false;
  };
  void wait(watch& since, std::chrono::nanoseconds longest) noexcept;

private:
  control_view view_;
};

} // namespace troupe::store::internal
