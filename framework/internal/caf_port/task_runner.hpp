// Runs what peers submit as tasks.
#pragma once

#include <caf/actor.hpp>
#include <caf/actor_system.hpp>

#include <troupe/framework/node_error.hpp>
#include <troupe/serializers/type_registry.hpp>

namespace troupe::internal {

/// An actor that runs each task it is sent in an actor of its own, on the system's scheduler, so that tasks run side by
/// side and never on the thread that brought them. Ends by an exit message; tasks that run then go on.
/// Requires: the registry outlives the actor system.
[[nodiscard]] caf::actor spawn_task_runner(caf::actor_system& system, const type_registry& types);

/// An actor that answers the first request it gets with that error, and ends.
[[nodiscard]] caf::actor spawn_refusal(caf::actor_system& system, node_error reason);

} // namespace troupe::internal
