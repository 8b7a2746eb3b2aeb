// Keeps a mailbox element alive while frames borrow the memory of its values.
#pragma once

#include <caf/mailbox_element.hpp>

#include <troupe/serializers/frame.hpp>

namespace troupe::internal {

struct message_owner final : frame_owner {
  caf::mailbox_element_ptr element;
};

} // namespace troupe::internal
