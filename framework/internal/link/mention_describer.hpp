// Describes the objects of outgoing messages.
#pragma once

#include <span>

#include <troupe/framework/internal/flow/behind_handles.hpp>
#include <troupe/framework/internal/net/link_mutex.hpp>
#include <troupe/framework/internal/wire/outbox.hpp>

namespace troupe::internal {

/// Describes the objects of a message to the peer, ahead of the message.
class mention_describer {
public:
  virtual ~mention_describer() = default;

  /// Also counts the objects that the peer has to pull. Called only for messages that mention objects.
  virtual void append_mentions(const link_held& held, std::span<const outgoing_mention> mentions, outbox& out) = 0;
};

} // namespace troupe::internal
