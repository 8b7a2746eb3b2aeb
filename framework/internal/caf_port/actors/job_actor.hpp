// Work that neither the I/O thread nor the thread that asks for it should do.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include <caf/actor_control_block.hpp>
#include <caf/actor_system.hpp>

namespace troupe::internal {

/// Runs jobs in the order in which they came, a bounded number at a time, in actors on the scheduler's threads.
///
/// Threads: any.
/// Lifetime: jobs that have not begun when it ends are dropped.
class job_actor {
public:
  /// `at_once` of them run at a time at most; fewer where the scheduler has fewer workers, of which one is left to
  /// others.
  explicit job_actor(caf::actor_system& system, std::size_t at_once = 1);
  job_actor(const job_actor&) = delete;
  job_actor& operator=(const job_actor&) = delete;
  ~job_actor();

  /// Those of one caller begin in their order. Never runs it at once.
  void run_soon(std::function<void()> job);

private:
  struct queue;

  [[nodiscard]] caf::strong_actor_ptr make_runner();

  caf::actor_system& system_;
  const std::shared_ptr<queue> queue_; // The actors look at it as long as this is there.
};

} // namespace troupe::internal
