// Threads for calls that block.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace troupe::tools {

/// Runs calls that may block, so that nobody waits for them. At most 64 run at once; further ones wait for a thread.
///
/// Threads: any. The destructor waits for the calls that run, and drops those that wait.
class call_pool {
public:
  static constexpr std::size_t threads_max = 64;

  call_pool() = default;
  call_pool(const call_pool&) = delete;
  call_pool& operator=(const call_pool&) = delete;
  ~call_pool();

  /// If the system refuses the first thread, runs the call in the caller's thread.
  void run(std::function<void()> call);

private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  std::size_t idle_ = 0;
  bool is_ending_ = false;
  std::vector<std::jthread> threads_; // Last: they use what is above.
};

} // namespace troupe::tools
