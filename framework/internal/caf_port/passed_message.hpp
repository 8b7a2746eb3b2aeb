// A message that came over a link without having been encoded.
#pragma once

#include <caf/mailbox_element.hpp>
#include <caf/message.hpp>

#include <troupe/framework/internal/flow/consumption.hpp>

namespace troupe::internal {

/// A message ready for a mailbox. `owed` is settled when the last reference to the content is gone, wherever the
/// content went.
[[nodiscard]] caf::mailbox_element_ptr make_passed_message(caf::strong_actor_ptr sender, caf::message_id id,
                                                           caf::message content, receipt owed);

} // namespace troupe::internal
