// A thread for work that may wait for the store, so that the I/O thread need not wait.
#pragma once

#include <condition_variable>
#include <deque>
#include <expected>
#include <functional>
#include <mutex>
#include <string_view>
#include <thread>

#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// Runs jobs one after another, on its own thread.
///
/// Threads: add from any thread; end once, and not from a job.
class job_queue {
public:
  job_queue() = default;
  job_queue(const job_queue&) = delete;
  job_queue& operator=(const job_queue&) = delete;
  ~job_queue() { end(); }

  /// Starts the thread if there is none. If the system provides none, fails with `bad_option`; the text begins with
  /// `whose`.
  [[nodiscard]] std::expected<void, node_error> start(std::string_view whose);

  /// Enqueues the job. Returns false after the end; the job is then dropped. Starts the thread if there is none. If the
  /// system provides none, jobs wait until a later call starts the thread.
  bool add(std::function<void()> job);

  /// Waits for the running job, and drops the waiting ones.
  void end();

private:
  void run();
  [[nodiscard]] std::expected<void, node_error> start_locked(std::string_view whose);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_; // Guarded by mutex_, like the next two.
  bool is_ended_ = false;
  std::thread thread_;
};

} // namespace troupe::internal
