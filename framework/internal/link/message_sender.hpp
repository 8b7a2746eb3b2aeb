// The path of a message from a proxy to the outbox.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>

#include <troupe/framework/internal/caf_port/actor_pointers.hpp>
#include <troupe/framework/internal/caf_port/actor_systems.hpp>
#include <troupe/framework/internal/caf_port/messages.hpp>
#include <troupe/framework/internal/flow/consumption.hpp>
#include <troupe/framework/internal/flow/peer_delay.hpp>
#include <troupe/framework/internal/link/dead_letter_writer.hpp>
#include <troupe/framework/internal/link/draft_sender.hpp>
#include <troupe/framework/internal/link/forwarded_message.hpp>
#include <troupe/framework/internal/link/link_common.hpp>
#include <troupe/framework/internal/link/link_traces.hpp>
#include <troupe/framework/internal/link/message_draft.hpp>
#include <troupe/framework/internal/link/message_encoder.hpp>
#include <troupe/framework/internal/link/message_forwarding.hpp>
#include <troupe/framework/internal/link/offloader.hpp>
#include <troupe/framework/internal/link/plain_sender.hpp>
#include <troupe/framework/internal/link/send_gate.hpp>
#include <troupe/framework/internal/link/terms_cache.hpp>
#include <troupe/framework/internal/link/unsent_counter.hpp>
#include <troupe/framework/internal/wire/message_deadline.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/framework/internal/wire/request_identity.hpp>
#include <troupe/framework/internal/words/said_once.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

class job_actor;

/// Sends messages to the peer. The caller's thread encodes each of them, unless it is offloaded. If a message is not
/// sent, the actor that waits for an answer is told.
///
/// Threads: any.
class message_sender {
public:
  /// Parts of the link; all must outlive this object.
  struct parts {
    const link_common& link;
    caf::actor_system& system;
    newest_terms terms;
    message_draft::parts drafts;
    message_encoder::parts encoding;
    draft_sender& drafts_out;
    plain_sender& plain_out;
    send_gate& gate;
    const internal::peer_delay& peer_delay;
    const link_traces& traces;
    job_actor& encoder; // The node's encoder for large messages.
    unsent_counter& unsent;
    const dead_letter_writer& letters;
  };
  message_sender(const parts& of, const offloader::parts& offloading) : of_(of), offload_(offloading) {}

  /// To be called before the first message. `link` owns this object. After the link's end, jobs that wait for the
  /// encoder do nothing.
  void open(std::weak_ptr<const void> link) { link_ = std::move(link); }

  /// Sends the message that a proxy was given.
  void send(std::uint64_t receiver, caf::mailbox_element_ptr what, caf::execution_unit* context);
  /// As send(). If the link is down, gives the message back instead of failing it, and returns false.
  [[nodiscard]] bool send_unless_down(std::uint64_t receiver, caf::mailbox_element_ptr& what,
                                      caf::execution_unit* context);
  /// Sends a message from another link that had to be decoded. It waits for room without a limit, and holds `owed`
  /// until it has left.
  void forward_decoded(std::uint64_t receiver, caf::mailbox_element_ptr what, receipt owed, bytes_view extensions);
  /// Forwards a message undecoded. Returns false, without any effect, if that is not possible.
  [[nodiscard]] bool forward(std::uint64_t receiver, const forwarded_message& what, const caf::strong_actor_ptr& sender,
                             caf::message_id id, receipt& owed);

  /// Fails the messages that are not encoded yet, because the link has ended.
  void end();

private:
  struct scratch;
  [[nodiscard]] static scratch& of_this_thread();

  void send(std::uint64_t receiver, caf::mailbox_element_ptr what, caf::execution_unit* context,
            caf::mailbox_element_ptr* back);

  /// What goes with a message besides its content.
  struct outgoing_context {
    std::optional<deadline_point> deadline = std::nullopt;
    const trace_context* trace = nullptr;
    bool begins_trace = false;
    std::shared_ptr<const request_identity> identity = nullptr;

    [[nodiscard]] bool is_any() const noexcept { return deadline || trace != nullptr || begins_trace || identity; }
  };
  /// `begins_trace`: the message begins a trace if it has no context.
  [[nodiscard]] static outgoing_context context_of(const caf::mailbox_element& what, bool begins_trace);
  [[nodiscard]] bool send_in(const outgoing_context& its, std::uint64_t receiver, caf::mailbox_element_ptr& what,
                             caf::execution_unit* context, caf::mailbox_element_ptr* back);
  void offload_or_send(std::uint64_t receiver, caf::mailbox_element_ptr what, caf::execution_unit* context,
                       bytes_view extensions, caf::mailbox_element_ptr* back);
  [[nodiscard]] bool send_plain(std::uint64_t receiver, const caf::mailbox_element& what);
  [[nodiscard]] bool begin(std::uint64_t receiver, caf::mailbox_element_ptr& what, caf::execution_unit* context,
                           caf::mailbox_element_ptr* back);
  void encode_and_send(std::uint64_t receiver, caf::mailbox_element_ptr what, caf::execution_unit* context,
                       receipt* owed, bytes_view extensions, caf::mailbox_element_ptr* back);
  void undo_or_return(std::uint64_t receiver, caf::mailbox_element_ptr what, const unsent& reason,
                      caf::execution_unit* context, caf::mailbox_element_ptr* back);
  void undo(std::uint64_t receiver, caf::mailbox_element& what, const unsent& reason, caf::execution_unit* context);
  void tell_asker(std::uint64_t receiver, caf::mailbox_element& what, const node_error& reason,
                  caf::execution_unit* context);

  [[nodiscard]] bool offload(std::uint64_t receiver, caf::mailbox_element_ptr& what, caf::execution_unit* context,
                             receipt* owed, bytes_view extensions);
  void encode_soon();
  void encode_next();
  void encode(const std::shared_ptr<offloaded_message>& next);

  const parts of_;
  offloader offload_;
  said_once refused_types_;
  std::weak_ptr<const void> link_;
};

} // namespace troupe::internal
