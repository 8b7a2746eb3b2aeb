// The actor system's configuration for programs whose actors talk over links.
#pragma once

#include <caf/actor_system_config.hpp>

namespace troupe {

/// An `actor_system_config` that a node needs: it gives the system a random node id, without which handles to remote
/// actors would look local, sets the scheduler policy `sharing`, because a worker that sleeps until it is woken answers
/// sooner than one that polls, and renders Troupe's errors. Everything else is as CAF has it; options parsed afterwards
/// win over the policy set here.
///
/// Lifetime: as CAF says, must outlive the actor system.
class system_config : public caf::actor_system_config {
public:
  system_config();
};

} // namespace troupe
