// Tells the threads that run actors from all others.
#pragma once

#include <caf/actor_system_config.hpp>

namespace troupe::internal {

/// Has the threads of systems built from `config` (workers, the clock, those of detached actors) known as such.
void mark_threads(caf::actor_system_config& config);

/// Whether the calling thread is nobody's but its caller's, so that waiting in it holds up no actor.
[[nodiscard]] bool may_block() noexcept;

} // namespace troupe::internal
