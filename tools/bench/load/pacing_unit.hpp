// Runs an actor on the caller's thread, so that a message for it wakes no other thread.
#pragma once

#include <vector>

#include <caf/actor_cast.hpp>
#include <caf/actor_control_block.hpp>
#include <caf/actor_system.hpp>
#include <caf/execution_unit.hpp>
#include <caf/message.hpp>
#include <caf/resumable.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>

namespace troupe::tools {

/// Sends messages to event-based actors and runs the actors that are idle then. If an actor runs on another thread, it
/// takes the message there. Threads: one.
class pacing_unit final : public caf::execution_unit {
public:
  explicit pacing_unit(caf::actor_system& system) : caf::execution_unit(&system) {}

  void exec_later(caf::resumable* job) override { jobs_.push_back(job); }

  template <class Handle, class... Values>
  void send(const Handle& to, const Values&... values) {
    caf::actor_cast<caf::strong_actor_ptr>(to)->enqueue(nullptr, caf::make_message_id(), caf::make_message(values...),
                                                        this);
    run();
  }

private:
  /// Runs each waiting actor once. What they do not finish is left to the system's own threads.
  void run() {
    constexpr std::size_t messages_most = 100;
    while (!jobs_.empty()) {
      auto* const job = jobs_.back();
      jobs_.pop_back();
      if (job->resume(this, messages_most) == caf::resumable::resume_later)
        system().scheduler().enqueue(job);
      else
        caf::intrusive_ptr_release(job);
    }
  }

  std::vector<caf::resumable*> jobs_;
};

} // namespace troupe::tools
