// Spawns actors that peers ask for.
#pragma once

#include <caf/actor.hpp>
#include <caf/actor_system.hpp>

namespace troupe::internal {

/// An actor that spawns those of the system's registered types (actor_system_config::add_actor_type) that it is asked
/// for, and answers with a handle. Ends by an exit message; what was spawned lives on.
[[nodiscard]] caf::actor spawn_spawner(caf::actor_system& system);

} // namespace troupe::internal
