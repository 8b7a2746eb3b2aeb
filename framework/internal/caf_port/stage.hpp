// Composed actors (f * g) of which one is remote: results go from stage to stage through this node.
#pragma once

#include <caf/actor_control_block.hpp>
#include <caf/actor_system.hpp>
#include <caf/mailbox_element.hpp>

namespace troupe::internal {

/// The same message as a plain request: its answer goes on to the next stage, as a local actor's result would, or an
/// error to who sent the message. Requires: stages.
[[nodiscard]] caf::mailbox_element_ptr without_stages(caf::actor_system& system, caf::mailbox_element_ptr what);

} // namespace troupe::internal
