// The turns of one process's threads at a disk, and the time for which the thread with the turn may retry.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <set>

namespace troupe::store::internal {

/// Gives the disk to one thread at a time. That thread retries only until a waiting thread runs out of time. Otherwise
/// a full disk would cost threads with a shorter limit, even zero, the whole time of the retries.
///
/// Threads: any.
class disk_queue {
public:
  class turn {
  public:
    /// Waits for the turn, however long other threads read and write.
    turn(disk_queue& queue, std::int64_t until_ns);
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;
    ~turn();

    /// Sleeps for that time. Returns false at once if that would exceed the limit of this thread or of a waiting one.
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
  std::multiset<std::int64_t> ends_; // Limits of the thread with the turn and of those that wait.
};

} // namespace troupe::store::internal
