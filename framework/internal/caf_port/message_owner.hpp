// Keeps a mailbox element alive while frames borrow the memory of its values.
#pragma once

#include <chrono>

#include <caf/mailbox_element.hpp>

#include <troupe/serializers/frame.hpp>

namespace troupe::internal {

struct message_owner final : frame_owner {
  caf::mailbox_element_ptr element;
  std::chrono::steady_clock::time_point since; // Set if the message may become a dead letter.
};

} // namespace troupe::internal
