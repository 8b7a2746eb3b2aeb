// From a complete draft to the outbox.
#pragma once

#include <atomic>
#include <cstdint>
#include <expected>

#include <troupe/framework/internal/caf_port/actor_pointers.hpp>
#include <troupe/framework/internal/caf_port/messages.hpp>
#include <troupe/framework/internal/link/actor_names.hpp>
#include <troupe/framework/internal/link/departures.hpp>
#include <troupe/framework/internal/link/known_types.hpp>
#include <troupe/framework/internal/link/link_common.hpp>
#include <troupe/framework/internal/link/message_draft.hpp>
#include <troupe/framework/internal/link/negotiation.hpp>
#include <troupe/framework/internal/link/send_gate.hpp>
#include <troupe/framework/internal/link/sent_dictionary.hpp>
#include <troupe/framework/internal/net/connection.hpp>
#include <troupe/framework/internal/net/link_mutex.hpp>
#include <troupe/framework/internal/wire/outbox.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// Sends complete drafts. Each leaves at once, waits for the peer's credit, or fails.
///
/// Threads: any.
class draft_sender {
public:
  /// Parts of the link; all must outlive this object.
  struct parts {
    const link_common& link;
    actor_names& actors;
    send_gate& gate;
    departures& leaving;
    sent_dictionary& words;
    const negotiation& lists;
    std::atomic<std::uint64_t>& messages_sent;
    std::atomic<std::uint64_t>& handle_bytes_sent;
  };
  explicit draft_sender(const parts& of) : of_(of) {}

  /// To be called before the first message. `to` must outlive this object.
  void open(const link_held&, connection& to) { to_ = &to; }

  /// Writes the message together with the signature and the chunks that it needs, or queues it until the peer gives
  /// credit. May block if the link's policy allows it.
  /// Fails with `link_down` or `link_busy`, with `unserializable` if the sender cannot be named or the peer has no room
  /// for the signature, or as outdated() if the peer has changed its lists.
  std::expected<void, unsent> send(message_draft& message, std::uint64_t receiver, const caf::strong_actor_ptr& sender,
                                   caf::message_id id);

private:
  [[nodiscard]] std::expected<sent_dictionary::numbered, node_error> define_signature(const link_held& held,
                                                                                      message_draft& message);
  void name_sender(const link_held& held, message_draft& message, message_head& head,
                   const caf::strong_actor_ptr& sender, caf::message_id id, admission admitted);
  void write_or_pack(const link_held& held, message_draft& message, message_head& head, admission admitted,
                     std::uint64_t stated_bytes);
  void log_signature(const message_draft& message, std::uint64_t number) const;

  const parts of_;
  connection* to_ = nullptr;
};

} // namespace troupe::internal
