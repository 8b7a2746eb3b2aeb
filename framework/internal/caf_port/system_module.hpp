// What Troupe puts into an actor system: its node id, which CAF leaves to a network module, and the threads that its
// end waits for.
#pragma once

#include <memory>

#include <caf/actor_system.hpp>

#include <troupe/framework/fwd.hpp>
#include <troupe/framework/internal/threads/system_threads.hpp>

namespace troupe::internal {

/// Makes systems built from `config` identify themselves by a random node id of 160 bits.
void add_system_module(system_config& config);

[[nodiscard]] bool has_system_module(const caf::actor_system& system);

/// What the system was built from; null where that is none of Troupe's.
[[nodiscard]] const system_config* config_of(const caf::actor_system& system);

/// The system's end, once its actors are done, waits for `threads`, unless they are forgotten before. Requires:
/// has_system_module.
void keep_threads(caf::actor_system& system, std::shared_ptr<system_threads> threads);
void forget_threads(caf::actor_system& system, const system_threads& threads);

} // namespace troupe::internal
