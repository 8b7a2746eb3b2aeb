// A wake-up signal between threads.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace troupe::internal {

/// Wakes the one thread that waits for it. A ring before the wait is not lost.
class bell {
public:
  void ring() {
    std::lock_guard guard{mutex_};
    has_rung_ = true;
    rung_.notify_one();
  }

  void wait() {
    std::unique_lock guard{mutex_};
    rung_.wait(guard, [this] { return has_rung_; });
    has_rung_ = false;
  }

  void wait_until(std::chrono::steady_clock::time_point until) {
    std::unique_lock guard{mutex_};
    rung_.wait_until(guard, until, [this] { return has_rung_; });
    has_rung_ = false;
  }

private:
  std::mutex mutex_;
  std::condition_variable rung_;
  bool has_rung_ = false; // Guarded by mutex_.
};

} // namespace troupe::internal
