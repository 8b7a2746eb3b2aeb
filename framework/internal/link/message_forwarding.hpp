// Messages from a third node for actors of the peer, which were introduced there: they are passed on as they came,
// without being decoded, where the peer accepts their families.
#pragma once

#include <expected>
#include <string>

#include <troupe/framework/internal/flow/consumption.hpp>
#include <troupe/framework/internal/link/forwarded_message.hpp>
#include <troupe/framework/internal/link/header_definitions.hpp>
#include <troupe/framework/internal/link/link_common.hpp>
#include <troupe/framework/internal/link/message_draft.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// Whether the peer accepts all families of a message that came over another link.
[[nodiscard]] bool accepts(const sending_terms& terms, const forwarded_message& message);

/// What passing messages on needs of one link. All of it outlives the link's messages.
struct forwarding_parts {
  const link_common& link;
  const std::string& own_name;
  header_definitions& headers;
};

/// Puts a message together from one that came over another link, for which accepts() says yes. Holds `owed` until it
/// has left. Requires: a draft that has begun.
[[nodiscard]] std::expected<void, node_error>
copy_forwarded(const forwarding_parts& link, const forwarded_message& message, receipt owed, message_draft& into);

} // namespace troupe::internal
