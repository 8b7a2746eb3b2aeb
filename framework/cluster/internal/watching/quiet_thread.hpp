// Threads of directories.
#pragma once

#include <troupe/framework/cluster/directory_errc.hpp>
#include <troupe/framework/cluster/internal/watching/opening_process.hpp>

#include <expected>
#include <functional>
#include <mutex>
#include <thread>

namespace troupe::cluster_directories {

/// A thread in which no signal handler of the process runs. Debuggers and ps show it as "troupe-watch".
///
/// Threads: any.
class quiet_thread {
public:
  quiet_thread() = default;
  quiet_thread(const quiet_thread&) = delete;
  quiet_thread& operator=(const quiet_thread&) = delete;
  /// Calls join(). If the thread itself destroys this object, it runs on alone.
  ~quiet_thread();

  /// Starts the thread, unless it was started before. Fails with `system_failure`.
  [[nodiscard]] std::expected<void, directory_error> start(std::function<void()> work);

  /// Waits for the thread's end. Returns at once if the thread itself calls, and in a forked child.
  void join();

private:
  const opening_process process_;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::thread thread_;
  bool is_started_ = false;
};

} // namespace troupe::cluster_directories
