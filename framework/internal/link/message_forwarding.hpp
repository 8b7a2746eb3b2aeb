// Messages from a third node for actors of the peer that this node has introduced there. They are forwarded undecoded
// if the peer accepts their families.
#pragma once

#include <expected>
#include <string>

#include <troupe/framework/internal/flow/consumption.hpp>
#include <troupe/framework/internal/flow/peer_delay.hpp>
#include <troupe/framework/internal/link/forwarded_message.hpp>
#include <troupe/framework/internal/link/header_definitions.hpp>
#include <troupe/framework/internal/link/link_common.hpp>
#include <troupe/framework/internal/link/link_traces.hpp>
#include <troupe/framework/internal/link/message_draft.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// Returns true if the peer accepts all families of a message that came over another link.
[[nodiscard]] bool accepts(const sending_terms& terms, const forwarded_message& message);

/// The parts of one link that forward messages; all must outlive the link's messages.
struct forwarding_parts {
  const link_common& link;
  const std::string& own_name;
  header_definitions& headers;
  const internal::peer_delay& peer_delay;
  const link_traces& traces;
};

/// Copies a message from another link into a draft. The draft holds `owed` until it has left. Requires: accepts(), and
/// a draft that has begun.
[[nodiscard]] std::expected<void, node_error>
copy_forwarded(const forwarding_parts& link, const forwarded_message& message, receipt owed, message_draft& into);

} // namespace troupe::internal
