// Work done ahead of need.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

namespace troupe::store::internal {

/// Background jobs, in the order in which they run.
enum class job : std::uint8_t {
  give_up_half_done,
  reap,
  look,
  spill, // May be requested constantly.
  reclaim,
  remove_files,
  touch
};

/// The result of a job.
enum class progress : std::uint8_t {
  done,
  more,   // Part of the job is done; the rest follows once other jobs have run.
  held_up // Nothing is done; the job is retried soon.
};

/// Runs background jobs in one thread, which starts with the first job.
///
/// Threads: any. end() and leave_to_parent() only once no other thread uses it.
class background {
public:
  using doer = std::function<progress(job)>;

  /// Runs the job `look` every `look_interval`, even if other jobs are pending; 0: never.
  background(std::chrono::nanoseconds look_interval, doer do_it);
  background(const background&) = delete;
  background& operator=(const background&) = delete;
  ~background();

  /// Requests a job. A running job may request another one. If no thread can be started, runs the job at once.
  void want(job what) noexcept;

  /// Waits for the running job. No job runs after that.
  void end() noexcept;
  /// Replaces end() in a forked child, which does not have the thread.
  void leave_to_parent() noexcept;

private:
  class worker;

  const std::chrono::nanoseconds look_interval_;
  const doer do_it_;
  std::once_flag begun_;
  std::unique_ptr<worker> worker_; // Set once; null again after end().
  bool is_left_ = false;
};

} // namespace troupe::store::internal
