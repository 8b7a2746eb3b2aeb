// What Troupe puts into an actor system: its node id, which CAF leaves to a network module, and what outlives a node.
#pragma once

#include <thread>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>

namespace troupe::internal {

/// Makes systems built from `config` identify themselves by a random node id of 160 bits.
void add_system_module(caf::actor_system_config& config);

[[nodiscard]] bool has_system_module(const caf::actor_system& system);

/// The system's end, once its actors are done, waits for `thread`. Requires: has_system_module.
void leave_thread(caf::actor_system& system, std::thread thread);

} // namespace troupe::internal
