// Resumes actors on the I/O thread that has received their messages.
#pragma once

#include <memory>

#include <caf/actor_control_block.hpp>
#include <caf/actor_system.hpp>
#include <caf/execution_unit.hpp>
#include <caf/mailbox_element.hpp>

#include <troupe/framework/internal/net/round_worker.hpp>

namespace troupe::internal {

/// The host of a node's I/O loop. It runs actors of `system` between the loop's polls of its sockets, and leaves actors
/// that have been slow to the system's scheduler. Requires: `system` is built from a troupe::system_config and outlives
/// the loop's threads.
[[nodiscard]] std::shared_ptr<loop_host> make_loop_host(caf::actor_system& system);

/// Delivers a received message to the actor. If the calling thread is an I/O thread that runs actors, it runs this one
/// after the round in which it has read the message.
void deliver_to(const caf::strong_actor_ptr& receiver, caf::mailbox_element_ptr message);

/// The calling thread's unit if it is an I/O thread that runs actors; otherwise null.
[[nodiscard]] caf::execution_unit* dispatching_unit() noexcept;

} // namespace troupe::internal
