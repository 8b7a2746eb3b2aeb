// The classes of actors, for people.
#pragma once

#include <string>

#include <caf/actor_control_block.hpp>

namespace troupe::internal {

/// The C++ class of the actor, or the class of its state if it has one. (CAF's name() of an actor may read its state,
/// which only the actor's thread may do.) Empty for null, and for actors of other nodes. Threads: any.
[[nodiscard]] std::string class_of(const caf::strong_actor_ptr& actor);

} // namespace troupe::internal
