// Work that neither the I/O thread nor the thread that asks for it should do.
#pragma once

#include <functional>
#include <memory>

#include <caf/actor_system.hpp>

namespace troupe::internal {

/// Runs jobs one after the other, in an actor, on the threads of the system's scheduler.
///
/// Threads: any.
/// Lifetime: jobs that have not begun when it ends are dropped.
class job_actor {
public:
  explicit job_actor(caf::actor_system& system);
  job_actor(const job_actor&) = delete;
  job_actor& operator=(const job_actor&) = delete;
  ~job_actor();

  /// Those of one caller in their order. Never runs it at once.
  void run_soon(std::function<void()> job);

private:
  struct queue;

  caf::actor_system& system_;
  const std::shared_ptr<queue> queue_; // The actor looks at it as long as this is there.
};

} // namespace troupe::internal
