// A lock that can be waited for with a deadline.
#pragma once

#include <troupe/framework/cluster/internal/host/call_deadline.hpp>

#include <condition_variable>
#include <mutex>

namespace troupe::cluster_directories {

/// Lets one thread at a time pass. Unlike with std::timed_mutex, ThreadSanitizer follows its waits.
class turns {
public:
  /// Returns false once the deadline has passed.
  [[nodiscard]] bool take(const call_deadline& deadline) {
    std::unique_lock guard{mutex_};
    if (!freed_.wait_until(guard, deadline.when(), [&] { return !is_taken_; }))
      return false;
    is_taken_ = true;
    return true;
  }
  void take() {
    std::unique_lock guard{mutex_};
    freed_.wait(guard, [&] { return !is_taken_; });
    is_taken_ = true;
  }
  void give_back() {
    const std::lock_guard guard{mutex_};
    is_taken_ = false;
    freed_.notify_one();
  }

private:
  std::mutex mutex_;
  std::condition_variable freed_;
  bool is_taken_ = false; // Guarded by mutex_.
};

/// Gives a turn back at the end of a scope.
class turn_taken {
public:
  explicit turn_taken(turns& of) : turns_(of) {}
  turn_taken(const turn_taken&) = delete;
  turn_taken& operator=(const turn_taken&) = delete;
  ~turn_taken() { turns_.give_back(); }

private:
  turns& turns_;
};

} // namespace troupe::cluster_directories
