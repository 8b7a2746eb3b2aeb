// Sends small messages that hold nothing but values.
#pragma once

#include <atomic>
#include <cstdint>

#include <troupe/framework/internal/caf_port/actor_pointers.hpp>
#include <troupe/framework/internal/caf_port/messages.hpp>
#include <troupe/framework/internal/link/actor_names.hpp>
#include <troupe/framework/internal/link/departures.hpp>
#include <troupe/framework/internal/link/link_common.hpp>
#include <troupe/framework/internal/link/negotiation.hpp>
#include <troupe/framework/internal/link/pending_requests.hpp>
#include <troupe/framework/internal/link/plain_encoder.hpp>
#include <troupe/framework/internal/link/send_gate.hpp>
#include <troupe/framework/internal/link/sent_dictionary.hpp>
#include <troupe/framework/internal/net/connection.hpp>
#include <troupe/framework/internal/net/link_mutex.hpp>

namespace troupe::internal {

/// Sends plain messages if nothing is in their way; draft_sender sends all others.
///
/// Does with such a message what draft_sender does. Either the message leaves at once or nothing happens, so nothing
/// has to be taken back.
/// Threads: any.
class plain_sender {
public:
  /// Parts of the link; all must outlive this object.
  struct parts {
    const link_common& link;
    actor_names& actors;
    send_gate& gate;
    const departures& leaving;
    pending_requests& asked;
    sent_dictionary& words;
    const negotiation& lists;
    std::atomic<std::uint64_t>& messages_sent;
  };
  explicit plain_sender(const parts& of) : of_(of) {}

  /// To be called before the first message. `to` must outlive this object.
  void open(const link_held&, connection& to) { to_ = &to; }

  /// Appends the message to the outbox. Returns false, without any effect, if the message has to wait, if its signature
  /// or receiver is new to the link, or if its sender is an actor of another node.
  [[nodiscard]] bool send(const plain_message& message, std::uint64_t receiver, const caf::strong_actor_ptr& sender,
                          caf::message_id id);

private:
  void ask(const link_held& held, const question_key& question, std::uint64_t receiver,
           const caf::strong_actor_ptr& asker, caf::message_id id);
  [[nodiscard]] bool know_signature(const link_held& held, const plain_message& message) const;

  const parts of_;
  connection* to_ = nullptr;
};

} // namespace troupe::internal
