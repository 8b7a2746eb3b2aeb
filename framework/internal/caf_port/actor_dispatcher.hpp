// Resumes actors on the I/O thread that has received their messages.
#pragma once

#include <memory>

#include <caf/actor_control_block.hpp>
#include <caf/actor_system.hpp>
#include <caf/execution_unit.hpp>
#include <caf/mailbox_element.hpp>

#include <troupe/framework/internal/net/round_worker.hpp>

namespace troupe::internal {

/// The host of a node's I/O loop: actors of `system` are run between its looks at the sockets, those that have been
/// slow before by the system's scheduler. Requires a system that is built from a troupe::system_config and lives longer
/// than the loop's threads.
[[nodiscard]] std::shared_ptr<loop_host> make_loop_host(caf::actor_system& system);

/// Sends the actor what was received. On an I/O thread that runs actors, it runs this one after the round in which it
/// reads.
void deliver_to(const caf::strong_actor_ptr& receiver, caf::mailbox_element_ptr message);

/// The calling thread's unit, when it is an I/O thread that runs actors, else null.
[[nodiscard]] caf::execution_unit* dispatching_unit() noexcept;

} // namespace troupe::internal
