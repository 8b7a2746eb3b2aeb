// Composed actors (f * g), one of which is remote. Results pass from stage to stage through this node.
#pragma once

#include <caf/actor_control_block.hpp>
#include <caf/actor_system.hpp>
#include <caf/mailbox_element.hpp>

namespace troupe::internal {

/// Converts the message into a plain request. Its answer is passed to the next stage, like a local actor's result. An
/// error is passed to the sender of the message. Requires: the message has stages.
[[nodiscard]] caf::mailbox_element_ptr without_stages(caf::actor_system& system, caf::mailbox_element_ptr what);

} // namespace troupe::internal
