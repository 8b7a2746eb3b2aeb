// The objects of a message, described to the peer.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <troupe/framework/internal/flow/behind_handles.hpp>
#include <troupe/framework/internal/link/mention_describer.hpp>
#include <troupe/framework/internal/net/link_mutex.hpp>
#include <troupe/framework/internal/wire/outbox.hpp>

namespace troupe::internal {

class link_in_exchange;

/// Appends the descriptions of a message's objects to the outbox.
///
/// Guarded by the link's lock.
class mention_writer final : public mention_describer {
public:
  /// `counted` counts the objects that the peer has to pull; it must outlive this object.
  explicit mention_writer(link_in_exchange& counted) : counted_(counted) {}

  void append_mentions(const link_held& held, std::span<const outgoing_mention> mentions, outbox& out) override;

private:
  link_in_exchange& counted_;
};

} // namespace troupe::internal
