// The head of an outgoing message.
#pragma once

#include <cstdint>

#include <troupe/framework/internal/caf_port/messages.hpp>

#include <troupe/framework/internal/wire/packet.hpp>

namespace troupe::internal {

/// Returns the head as CAF's message id defines it. Sender, signature and extensions remain to be set.
[[nodiscard]] inline message_head head_of(std::uint64_t receiver, caf::message_id id) {
  message_head head{.receiver = receiver};
  if (id.is_urgent_message())
    head.flags |= message_flags::urgent;
  if (id.is_request())
    head.flags |= message_flags::request;
  else if (id.is_response())
    head.flags |= message_flags::response;
  head.request_number = id.request_id().integer_value();
  return head;
}

} // namespace troupe::internal
