// A thread for what may wait for the store, apart from the I/O thread.
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

/// Runs jobs one after the other, on a thread of its own.
///
/// Threads: add from any, end once, not in a job.
class job_queue {
public:
  job_queue() = default;
  job_queue(const job_queue&) = delete;
  job_queue& operator=(const job_queue&) = delete;
  ~job_queue() { end(); }

  /// Makes the thread where there is none. Fails with `bad_option` where the system gives none; the text begins with
  /// `whose`.
  [[nodiscard]] std::expected<void, node_error> start(std::string_view whose);

  /// False after the end: then it is dropped. Makes the thread where start() was not called; while the system gives
  /// none, jobs wait until more come.
  bool add(std::function<void()> job);

  /// Waits for the job that runs; those that wait are dropped.
  void end();

private:
  void run();
  [[nodiscard]] std::expected<void, node_error> start_locked(std::string_view whose);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_; // Guarded by mutex_, as the next ones are.
  bool is_ended_ = false;
  std::thread thread_;
};

} // namespace troupe::internal
