// What Troupe puts into an actor system: its node id, which CAF leaves to a network module, and the threads that its
// end waits for.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>

namespace troupe::internal {

/// Threads that use an actor system.
class system_threads {
public:
  virtual ~system_threads() = default;
  /// Waits until they have nothing more to do, and joins them. False when they still have after `patience`. From any
  /// thread but those.
  [[nodiscard]] virtual bool join_within(std::chrono::milliseconds patience) = 0;
  /// Whether their owner has left them to the system.
  [[nodiscard]] virtual bool is_left() const noexcept = 0;
  /// The name of the node that they belong to.
  [[nodiscard]] virtual const std::string& owner() const noexcept = 0;
};

/// Makes systems built from `config` identify themselves by a random node id of 160 bits.
void add_system_module(caf::actor_system_config& config);

[[nodiscard]] bool has_system_module(const caf::actor_system& system);

/// The system's end, once its actors are done, waits for `threads`, unless they are forgotten before. Requires:
/// has_system_module.
void keep_threads(caf::actor_system& system, std::shared_ptr<system_threads> threads);
void forget_threads(caf::actor_system& system, const system_threads& threads);

} // namespace troupe::internal
