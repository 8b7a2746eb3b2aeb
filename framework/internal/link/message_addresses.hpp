// The sender and the receiver of an incoming message.
#pragma once

#include <cstdint>
#include <expected>

#include <troupe/framework/internal/flow/reply_room.hpp>
#include <troupe/framework/internal/link/actor_names.hpp>
#include <troupe/framework/internal/link/link_common.hpp>
#include <troupe/framework/internal/link/message_ends.hpp>
#include <troupe/framework/internal/link/pending_requests.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

class shared_helpers;

/// Finds the actors that the heads of messages name.
///
/// Threads: the I/O thread.
class message_addresses final : public ends_finder {
public:
  /// Parts of the link and of its node; all must outlive this object.
  struct parts {
    actor_names& actors;
    pending_requests& asked; // Guarded by the link's lock.
    reply_room& replies;     // The room for answers to `asked`.
    const shared_helpers& helpers;
  };
  message_addresses(const link_common& link, const parts& of) : link_(link), of_(of) {}

  [[nodiscard]] std::expected<message_ends, node_error> find_ends(const message_head& head,
                                                                  taken_question& returned) override;
  void count_mentions(std::uint64_t number, std::uint64_t more) override { of_.actors.count_more(number, more); }
  [[nodiscard]] bool serves_all_links(const caf::strong_actor_ptr& actor) const override;

private:
  const link_common& link_;
  const parts of_;
};

} // namespace troupe::internal
