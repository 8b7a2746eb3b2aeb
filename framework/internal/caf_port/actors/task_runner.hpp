// Runs tasks that peers submit.
#pragma once

#include <caf/actor.hpp>
#include <caf/actor_system.hpp>

#include <troupe/serializers/type_entry.hpp>

namespace troupe::internal {

/// An actor that runs each task that it is sent. An exit message ends it; running tasks continue.
/// Requires: the registry outlives the actor system.
[[nodiscard]] caf::actor spawn_task_runner(caf::actor_system& system, const type_registry& types);

} // namespace troupe::internal
