// Calls the handlers of one watch.
#pragma once

#include <troupe/framework/cluster/directory.hpp>

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <span>
#include <thread>

namespace troupe::cluster_directories {

/// Calls the handlers of a watch, one at a time, until the watch has ended or was stopped.
///
/// Threads: any.
class watch_calls {
public:
  explicit watch_calls(directory_watch_handlers handlers) : handlers_(std::move(handlers)) {}

  /// Calls on_changes. Does nothing after the end. Requires: at least one change.
  void changes(std::span<const directory_change> what, std::uint64_t revision);

  /// Calls on_end, and nothing after it. Does nothing after the end.
  void end(const directory_error& why);

  /// Waits for a handler that runs, unless the calling handler is that one. Afterwards no handler is called.
  void stop();

  /// Whether no handler will be called any more.
  [[nodiscard]] bool is_over() const;

private:
  template <class Call>
  void run(bool is_last, Call&& call);

  const directory_watch_handlers handlers_;
  mutable std::mutex mutex_;
  std::condition_variable idle_;
  // Guarded by mutex_.
  std::thread::id runs_in_; // Of no thread while no handler runs.
  bool is_over_ = false;
};

} // namespace troupe::cluster_directories
