// Calls a function at set times, on a worker of CAF's scheduler.
#pragma once

#include <chrono>
#include <functional>

#include <caf/actor.hpp>
#include <caf/fwd.hpp>

namespace troupe::internal {

/// Calls a function at each time that was set, unless the alarm is destroyed before.
///
/// Use it where code may run on the thread of CAF's clock, as the `enqueue` of an actor without a mailbox does. On that
/// thread, CAF's clock itself must not be used: its queue is bounded, and while it is full, the only thread that takes
/// from it would wait for itself. Then every timer of the program would stand still.
///
/// Threads: any.
class alarm {
public:
  alarm(caf::actor_system& system, std::function<void()> ring);
  alarm(const alarm&) = delete;
  alarm& operator=(const alarm&) = delete;
  ~alarm();

  void set(std::chrono::steady_clock::time_point at);

private:
  const caf::actor bell_;
};

} // namespace troupe::internal
