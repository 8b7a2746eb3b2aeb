// Counts messages where they arrive, and lets the sender wait for them.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <mutex>

namespace troupe::bench::detail {

/// A counter that one thread can wait for. Threads: any may call add(); one at a time may wait.
class arrivals {
public:
  void add() {
    if (count_.fetch_add(1) + 1 < awaited_.load())
      return;
    const std::lock_guard lock{mutex_}; // So that the waiting thread has either seen the count or sleeps.
    arrived_.notify_all();
  }

  [[nodiscard]] std::uint64_t count() const { return count_.load(); }

  /// Waits until that many have arrived. False if they have not by then.
  [[nodiscard]] bool wait(std::uint64_t count, std::chrono::steady_clock::time_point until) {
    // The order of the two accesses matters: a message that is added after the count was read sees what is awaited.
    awaited_.store(count);
    std::unique_lock lock{mutex_};
    const auto came = arrived_.wait_until(lock, until, [&] { return count_.load() >= count; });
    awaited_.store(std::numeric_limits<std::uint64_t>::max());
    return came;
  }

private:
  std::atomic<std::uint64_t> count_ = 0;
  std::atomic<std::uint64_t> awaited_ = std::numeric_limits<std::uint64_t>::max(); // Nobody waits.
  std::mutex mutex_;
  std::condition_variable arrived_;
};

} // namespace troupe::bench::detail
