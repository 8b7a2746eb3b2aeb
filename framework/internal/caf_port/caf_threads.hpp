// Distinguishes threads that run actors from all others.
#pragma once

#include <caf/actor_system_config.hpp>

namespace troupe::internal {

/// Marks the threads of systems built from `config`: workers, the clock, and those of detached actors.
void mark_threads(caf::actor_system_config& config);

/// Whether the calling thread belongs to its caller alone, so that blocking it delays no actor.
[[nodiscard]] bool may_block() noexcept;

} // namespace troupe::internal
