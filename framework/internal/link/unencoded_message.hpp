// What a message is before it is encoded.
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
  caf::strong_actor_ptr proxy; // The receiver's, so that the peer is not told that nobody refers to it.
  // Of a message that came over another link:
  std::vector<std::byte> extensions = {};     // Most have none.
  std::optional<receipt> owed = std::nullopt; // Held until it has left.
};

} // namespace troupe::internal
