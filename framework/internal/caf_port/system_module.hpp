// Troupe's part of an actor system: the node id, which CAF leaves to a network module, and the threads for which the
// system's end waits.
#pragma once

#include <memory>

#include <caf/actor_system.hpp>

#include <troupe/framework/fwd.hpp>
#include <troupe/framework/internal/threads/system_threads.hpp>

namespace troupe::internal {

class supervisor_book;

/// Gives systems built from `config` a random node id of 160 bits.
void add_system_module(system_config& config);

[[nodiscard]] bool has_system_module(const caf::actor_system& system);

/// The configuration that the system was built from; null if it is not Troupe's.
[[nodiscard]] const system_config* config_of(const caf::actor_system& system);

/// Makes the system's end wait for `threads` once its actors are done, unless they are forgotten before. Requires:
/// has_system_module.
void keep_threads(caf::actor_system& system, std::shared_ptr<system_threads> threads);
void forget_threads(caf::actor_system& system, const system_threads& threads);

/// The supervisors of the system; null if the system is not Troupe's. Valid while its actors live.
[[nodiscard]] supervisor_book* supervisors_of(caf::actor_system& system);

} // namespace troupe::internal
