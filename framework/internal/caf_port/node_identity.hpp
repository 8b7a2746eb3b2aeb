// Gives an actor system its node id, which CAF leaves to a network module.
#pragma once

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>

namespace troupe::internal {

/// Makes systems built from `config` identify themselves by a random node id of 160 bits.
void add_node_identity(caf::actor_system_config& config);

} // namespace troupe::internal
