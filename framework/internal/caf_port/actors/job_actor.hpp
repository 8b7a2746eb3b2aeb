// Runs work away from the I/O thread and from the thread that requests it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include <caf/actor_control_block.hpp>
#include <caf/actor_system.hpp>

namespace troupe::internal {

/// Runs jobs in the order of their requests, a limited number at a time, in actors on the scheduler's threads.
///
/// Threads: any.
/// Lifetime: the destructor drops jobs that have not begun.
class job_actor {
public:
  /// Runs at most `at_once` jobs at a time, or fewer if the scheduler has too few workers. One worker is left free.
  explicit job_actor(caf::actor_system& system, std::size_t at_once = 1);
  job_actor(const job_actor&) = delete;
  job_actor& operator=(const job_actor&) = delete;
  ~job_actor();

  /// Enqueues the job and returns without running it. Jobs of one caller begin in order.
  void run_soon(std::function<void()> job);

private:
  struct queue;

  [[nodiscard]] caf::strong_actor_ptr make_runner();

  caf::actor_system& system_;
  const std::shared_ptr<queue> queue_; // The actors use it while this exists.
};

} // namespace troupe::internal
