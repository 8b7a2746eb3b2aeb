// Which actors CAF runs in its own way.
#pragma once

#include <caf/abstract_actor.hpp>
#include <caf/actor_system.hpp>
#include <caf/scheduled_actor.hpp>

namespace troupe::internal {

/// Tells actors that caf::scheduled_actor enqueues to and resumes from those that do either in a way of their own, such
/// as brokers, companions, blocking actors, proxies and classes that override one of the two.
///
/// Threads: any.
class ordinary_actors {
public:
  explicit ordinary_actors(caf::actor_system& system);

  /// The actor, where it is such a one and has no thread of its own; else null.
  [[nodiscard]] caf::scheduled_actor* find(caf::abstract_actor& actor) const noexcept;

private:
  /// What is called for one virtual function.
  using function = const void*;

  function enqueue_ = nullptr;
  function resume_ = nullptr;
};

} // namespace troupe::internal
