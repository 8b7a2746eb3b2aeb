// Recognizes actors that CAF runs in its own way.
#pragma once

#include <caf/abstract_actor.hpp>
#include <caf/actor_system.hpp>
#include <caf/scheduled_actor.hpp>

namespace troupe::internal {

/// Recognizes actors that use caf::scheduled_actor's own enqueue and resume. Brokers, companions, blocking actors,
/// proxies and classes that override either function do not.
///
/// Threads: any.
class ordinary_actors {
public:
  explicit ordinary_actors(caf::actor_system& system);

  /// The actor if it uses both functions and has no thread of its own; else null.
  [[nodiscard]] caf::scheduled_actor* find(caf::abstract_actor& actor) const noexcept;

private:
  /// The address of a virtual function's implementation.
  using function = const void*;

  function enqueue_ = nullptr;
  function resume_ = nullptr;
};

} // namespace troupe::internal
