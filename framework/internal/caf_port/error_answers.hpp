// Answers requests with errors.
#pragma once

#include <caf/actor_control_block.hpp>
#include <caf/fwd.hpp>
#include <caf/message_id.hpp>

#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// Sends the error as the answer with that id. `from` is null if no actor has sent it. Must not be called under a
/// link's lock.
void answer_with(const node_error& why, const caf::strong_actor_ptr& asker, caf::message_id answer,
                 const caf::strong_actor_ptr& from, caf::execution_unit* context);

} // namespace troupe::internal
