// Waits until nothing comes any more.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>

namespace troupe::membership {

/// Notices when nothing has come, and nothing was under way, for a while.
///
/// Threads: any; wait() is called by one at a time.
class quiet_watch {
public:
  using clock = std::chrono::steady_clock;

  /// Something comes. It is under way only afterwards.
  void note() noexcept { last_.store(clock::now()); }

  /// Waits until nothing has come, and nothing was under way, for `quiet_time`, but not longer than until `until`.
  /// Nobody tells when something is under way no more: the thread looks once per `quiet_time`, and counts what was
  /// under way at the last look as under way until this one. Returns whether it is quiet.
  bool wait(std::chrono::milliseconds quiet_time, const std::function<bool()>& is_under_way,
            clock::time_point until) const;

private:
  std::atomic<clock::time_point> last_{clock::time_point{}};
};

} // namespace troupe::membership
