// Turns of one process's threads at a disk, and how long whoever has the turn may try again.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <set>

namespace troupe::store::internal {

/// Who has the turn tries again only while nobody who waits for it is out of time: a disk that is full would else cost
/// those the whole time of a try, who wanted to wait for less or not at all.
///
/// Threads: any.
class disk_queue {
public:
  class turn {
  public:
    /// Waits for it: what others read and write takes what it takes.
    turn(disk_queue& queue, std::int64_t until_ns);
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;
    ~turn();

    /// Sleeps that long. False, at once, where that is longer than this one or somebody behind it can wait.
    [[nodiscard]] bool pause(std::chrono::nanoseconds how_long);
    /// Whether any pause was refused.
    [[nodiscard]] bool was_cut_short() const noexcept { return was_cut_short_; }

  private:
    disk_queue& queue_;
    std::multiset<std::int64_t>::iterator place_;
    bool was_cut_short_ = false;
  };

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  bool is_taken_ = false;
  std::multiset<std::int64_t> ends_; // Until when each can wait that has the turn or waits for it.
};

} // namespace troupe::store::internal
