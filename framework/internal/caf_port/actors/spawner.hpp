// Spawns actors on behalf of peers.
#pragma once

#include <caf/actor.hpp>
#include <caf/actor_system.hpp>

namespace troupe::internal {

/// An actor that spawns actors of the system's registered types (actor_system_config::add_actor_type) on request, and
/// answers with a handle. An exit message ends it; spawned actors live on.
[[nodiscard]] caf::actor spawn_spawner(caf::actor_system& system);

} // namespace troupe::internal
