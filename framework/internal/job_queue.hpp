// A thread for what may wait for the store, apart from the I/O thread.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace troupe::internal {

/// Runs jobs one after the other, on a thread that begins with the first.
///
/// Threads: add from any, end once, not in a job.
class job_queue {
public:
  job_queue() = default;
  job_queue(const job_queue&) = delete;
  job_queue& operator=(const job_queue&) = delete;
  ~job_queue() { end(); }

  /// False after the end: then it is dropped.
  bool add(std::function<void()> job);

  /// Waits for the job that runs; those that wait are dropped.
  void end();

private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_; // Guarded by mutex_, as the next ones are.
  bool is_ended_ = false;
  std::thread thread_;
};

} // namespace troupe::internal
