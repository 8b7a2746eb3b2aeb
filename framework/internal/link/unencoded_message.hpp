// A message before it is encoded.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include <troupe/framework/internal/caf_port/actor_pointers.hpp>
#include <troupe/framework/internal/caf_port/messages.hpp>
#include <troupe/framework/internal/flow/consumption.hpp>

namespace troupe::internal {

/// A message that waits to be encoded for a link.
struct unencoded_message {
  caf::mailbox_element_ptr element;
  caf::strong_actor_ptr proxy; // The receiver's proxy: while it lives, the receiver is not released to the peer.
  // Set for a message from another link:
  std::vector<std::byte> extensions = {};     // Most have none.
  std::optional<receipt> owed = std::nullopt; // Held until the message has left.
};

} // namespace troupe::internal
