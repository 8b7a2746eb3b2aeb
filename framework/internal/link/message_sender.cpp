#include <troupe/framework/internal/caf_port/messages.hpp>
#include <troupe/framework/internal/link/message_sender.hpp>

#include <chrono>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include <troupe/framework/internal/caf_port/actor_dispatcher.hpp>
#include <troupe/framework/internal/caf_port/actors/job_actor.hpp>
#include <troupe/framework/internal/caf_port/annotated_message.hpp>
#include <troupe/framework/internal/caf_port/asker.hpp>
#include <troupe/framework/internal/caf_port/context_in_force.hpp>
#include <troupe/framework/internal/caf_port/error_answers.hpp>
#include <troupe/framework/internal/caf_port/message_view.hpp>
#include <troupe/framework/internal/caf_port/stage.hpp>
#include <troupe/framework/internal/traces/in_use.hpp>
#include <troupe/framework/internal/wire/message_deadline.hpp>
#include <troupe/framework/internal/wire/message_trace.hpp>
#include <troupe/framework/internal/wire/request_identity.hpp>
#include <troupe/framework/internal/words/text.hpp>
#include <troupe/framework/node_error.hpp>

namespace troupe::internal {

namespace {

/// Returns why a message of this sort does not cross the link; nullopt if it does.
std::optional<node_error> why_not(const caf::mailbox_element& what, const peer_terms& peer) {
  auto unsupported = [](std::string text) { return node_error{node_errc::unsupported, std::move(text)}; };
  if (what.mid.is_stream_message())
    return unsupported("CAF streams do not cross links");
  const auto kind = message_view{what}.kind();
  if (kind == message_kind::down)
    return unsupported("a down message is not sent: monitor the actor instead");
  if (kind == message_kind::error && !what.mid.is_request() && !what.mid.is_response() && !peer.takes_exits)
    return node_error{node_errc::not_allowed,
                      peer.name + " rejects unsolicited errors (they terminate the receiver)"
                          + lacks_right(peer.role_of_reader, "allow_exit", "; set allow_exit on its end")};
  if (kind == message_kind::exit && !peer.takes_exits)
    return node_error{node_errc::not_allowed,
                      peer.name + " rejects exit messages"
                          + lacks_right(peer.role_of_reader, "allow_exit", " on this link; set allow_exit on its end")};
  return std::nullopt;
}

/// Whether it can have a deadline or a context. Cheap.
bool may_carry_context(const caf::mailbox_element& what) {
  return may_have_context() || what.mid.is_request() || notes_of(what) != nullptr;
}

} // namespace

/// The parts that a thread reuses from message to message.
struct message_sender::scratch {
  std::shared_ptr<message_owner> owner = std::make_shared<message_owner>();
  known_types known;
  plain_encoder plain{known};
  message_encoder encoder{known};
  message_draft draft;
  bool may_become_letter = false; // The message, if it is not sent.

  /// Takes the element if it was sent. Otherwise gives it back, with the error. In any case, also after exceptions,
  /// nothing stays counted for a message that was not sent.
  std::expected<void, unsent> send(const parts& link, std::uint64_t receiver, caf::mailbox_element_ptr& what,
                                   receipt* owed, bytes_view extensions) {
    struct clearing {
      scratch& used;
      caf::mailbox_element_ptr& what;
      bool sent = false;
      ~clearing() {
        used.clear();
        if (!sent)
          what = std::move(used.owner->element);
        // If no frame borrows the values, the owner serves the next message; otherwise the frames keep it.
        constexpr long own_uses = 2; // This member, and the encoder's context.
        if (used.owner.use_count() <= own_uses) {
          used.owner->element.reset();
        } else {
          used.encoder.forget_values();
          used.owner = std::make_shared<message_owner>();
        }
      }
    } at_end{*this, what};
    owner->element = std::move(what);
    may_become_letter = link.letters.is_wanted() && !owner->element->mid.is_response();
    if (may_become_letter)
      owner->since = std::chrono::steady_clock::now();
    auto done = attempt(link, receiver, false, owed, extensions);
    if (!done && done.error().is_outdated) {
      if (owed != nullptr)
        *owed = draft.cargo().claims.take_owed();
      clear();
      done = attempt(link, receiver, true, owed, extensions);
    }
    at_end.sent = done.has_value();
    return done;
  }

  std::expected<void, unsent> attempt(const parts& link, std::uint64_t receiver, bool is_waited_for, receipt* owed,
                                      bytes_view extensions) {
    draft.begin(link.drafts, link.terms, is_waited_for);
    if (owed != nullptr)
      draft.owe(std::move(*owed)); // First: if this attempt fails, the next one finds the receipt in the draft.
    auto done = encoder.encode(link.encoding, receiver, owner, draft);
    if (!done)
      return done;
    if (!extensions.empty())
      draft.extend(extensions);
    if (const auto* notes = notes_of(*owner->element))
      draft.cargo().call = notes->trace;
    if (may_become_letter)
      draft.cargo().kept = owner;
    return link.drafts_out.send(draft, receiver, owner->element->sender, owner->element->mid);
  }

  void clear() {
    draft.clear();
    encoder.clear();
  }
};

/// Returns false if the message has failed already, or was given back.
bool message_sender::begin(std::uint64_t receiver, caf::mailbox_element_ptr& what, caf::execution_unit* context,
                           caf::mailbox_element_ptr* back) {
  if (!of_.link.is_open()) {
    undo_or_return(receiver, std::move(what), of_.link.down(), context, back);
    return false;
  }
  if (!what->stages.empty())
    what = without_stages(of_.system, std::move(what));
  if (auto reason = why_not(*what, of_.link.agreed().peer)) {
    undo(receiver, *what, *reason, context);
    return false;
  }
  return true;
}

void message_sender::send(std::uint64_t receiver, caf::mailbox_element_ptr what, caf::execution_unit* context) {
  send(receiver, std::move(what), context, nullptr);
}

bool message_sender::send_unless_down(std::uint64_t receiver, caf::mailbox_element_ptr& what,
                                      caf::execution_unit* context) {
  caf::mailbox_element_ptr back;
  send(receiver, std::move(what), context, &back);
  what = std::move(back);
  return what == nullptr;
}

/// If `back` is given, it takes the message that was not sent because the link is down.
void message_sender::send(std::uint64_t receiver, caf::mailbox_element_ptr what, caf::execution_unit* context,
                          caf::mailbox_element_ptr* back) {
  if (contexts_are_in_use.load(std::memory_order_relaxed))
    if (const auto begins_trace = of_.traces.begins_trace(); begins_trace || may_carry_context(*what))
      if (const auto its = context_of(*what, begins_trace); its.is_any() && send_in(its, receiver, what, context, back))
        return;
  if (!send_plain(receiver, *what) && begin(receiver, what, context, back))
    offload_or_send(receiver, std::move(what), context, {}, back);
}

message_sender::outgoing_context message_sender::context_of(const caf::mailbox_element& what, bool begins_trace) {
  if (what.mid.is_response()) // Its receiver has the context of the request.
    return {};
  outgoing_context its;
  const auto is_request = what.mid.is_request();
  if (const auto* const notes = notes_of(what)) {
    its.deadline = notes->deadline;
    its.trace = notes->trace ? &notes->trace->context() : nullptr;
    its.identity = notes->identity;
  } else if (is_request) {
    its.deadline = deadline_in_name_of(what.sender);
  }
  if (its.trace == nullptr)
    its.trace = context_for_message_of(what.sender, is_request);
  its.begins_trace = its.trace == nullptr && begins_trace;
  return its;
}

/// Returns false, without any effect, if the message is not an ordinary one. Requires: the context is not empty.
bool message_sender::send_in(const outgoing_context& its, std::uint64_t receiver, caf::mailbox_element_ptr& what,
                             caf::execution_unit* context, caf::mailbox_element_ptr* back) {
  if (message_view{*what}.kind() != message_kind::ordinary)
    return false;
  byte_vector extensions;
  std::optional<trace_context> trace;
  try {
    extensions.reserve(128); // Enough for most.
    if (its.deadline && of_.link.agreed().features.has(feature::deadlines))
      append_deadline(extensions, with_delay(*its.deadline, std::chrono::steady_clock::now(), of_.peer_delay.now()));
    if (its.begins_trace)
      trace = trace_context::begin();
    else if (its.trace != nullptr)
      trace = *its.trace;           // A copy, because begin() may replace the message that has it.
  } catch (const std::exception&) { // No memory: the message goes without them.
    extensions.clear();
  }
  if (!begin(receiver, what, context, back))
    return true;
  if (trace)
    if (auto hop = of_.traces.send(*trace, *what, extensions))
      what = annotate(std::move(what), {.deadline = its.deadline, .trace = std::move(hop)}, nullptr);
  if (its.identity && of_.link.agreed().features.has(feature::repeats))
    append_request_identity(extensions, *its.identity);
  offload_or_send(receiver, std::move(what), context, extensions, back);
  return true;
}

void message_sender::offload_or_send(std::uint64_t receiver, caf::mailbox_element_ptr what,
                                     caf::execution_unit* context, bytes_view extensions,
                                     caf::mailbox_element_ptr* back) {
  if (offload_.takes_nothing() || !offload(receiver, what, context, nullptr, extensions))
    encode_and_send(receiver, std::move(what), context, nullptr, extensions, back);
}

/// Tries the short way of most messages. If it returns false, nothing has happened, and a draft has to send the
/// message.
bool message_sender::send_plain(std::uint64_t receiver, const caf::mailbox_element& what) {
  if (!of_.link.is_open() || !what.stages.empty() || what.mid.is_stream_message() || !offload_.is_idle())
    return false;
  auto& used = of_this_thread();
  if (used.plain.in_use())
    return false;
  try {
    const auto* message = used.plain.encode(of_.encoding, of_.terms, what);
    return message != nullptr && of_.plain_out.send(*message, receiver, what.sender, what.mid);
  } catch (const std::exception&) { // Mostly out of memory. The draft then fails as well, and tells the requester.
    return false;
  }
}

message_sender::scratch& message_sender::of_this_thread() {
  thread_local scratch kept;
  return kept;
}

void message_sender::forward_decoded(std::uint64_t receiver, caf::mailbox_element_ptr what, receipt owed,
                                     bytes_view extensions) {
  auto* context = dispatching_unit();
  if (!begin(receiver, what, context, nullptr))
    return;
  byte_vector kept{extensions.begin(), extensions.end()};
  if (!kept.empty())
    kept = of_.traces.forward(kept);
  if (find_deadline(kept))
    keep_deadline(kept, std::chrono::steady_clock::now(), of_.peer_delay.now());
  // Messages of the same pair that are being encoded came before.
  if (offload_.has(receiver, itself(what->sender).get()) && offload(receiver, what, context, &owed, kept))
    return;
  encode_and_send(receiver, std::move(what), context, &owed, kept, nullptr);
}

/// Encodes and sends on this thread. Requires: a message of a supported sort. If `owed` is given, the message holds it
/// until it has left, and waits for room without a limit.
void message_sender::encode_and_send(std::uint64_t receiver, caf::mailbox_element_ptr what,
                                     caf::execution_unit* context, receipt* owed, bytes_view extensions,
                                     caf::mailbox_element_ptr* back) {
  // A codec may itself send something while it encodes.
  std::unique_ptr<scratch> nested;
  auto* used = &of_this_thread();
  if (used->draft.in_use()) {
    nested = std::make_unique<scratch>();
    used = nested.get();
  }
  std::expected<void, unsent> sent;
  try {
    sent = used->send(of_, receiver, what, owed, extensions);
  } catch (const std::exception& failure) { // Mostly no memory; the requester is told all the same.
    sent = std::unexpected{node_error{node_errc::unserializable,
                                      "the message cannot be encoded: " + std::string{exception_text(failure)}}};
  }
  if (!sent && what)
    undo_or_return(receiver, std::move(what), sent.error(), context, back);
}

bool message_sender::forward(std::uint64_t receiver, const forwarded_message& what, const caf::strong_actor_ptr& sender,
                             caf::message_id id, receipt& owed) {
  const auto& passing = of_.encoding;
  if (what.types->kind == message_kind::exit && !of_.link.agreed().peer.takes_exits)
    return false;
  // Messages of the same pair that are being encoded came before.
  if (!of_.link.is_open() || offload_.has(receiver, itself(sender).get())
      || !passing.headers.admits_for_others(what.types->aliases))
    return false;
  thread_local message_draft draft;
  const std::unique_ptr<message_draft, void (*)(message_draft*)> cleared{&draft, [](auto* used) { used->clear(); }};
  draft.begin(of_.drafts, of_.terms, true); // This end acknowledges newer lists only afterwards.
  if (!accepts(draft.terms(), what))
    return false;
  std::expected<void, unsent> sent = copy_forwarded(
      {of_.link, passing.own_name, passing.headers, of_.peer_delay, of_.traces}, what, std::move(owed), draft);
  if (sent)
    sent = of_.drafts_out.send(draft, receiver, sender, id);
  if (!sent) {
    auto none = caf::make_mailbox_element(sender, id, {}, caf::message{});
    undo(receiver, *none, sent.error(), dispatching_unit());
  }
  return true;
}

// -- messages that are not sent

/// Gives the message back if the link is down and `back` is not null. Otherwise undoes it.
void message_sender::undo_or_return(std::uint64_t receiver, caf::mailbox_element_ptr what, const unsent& reason,
                                    caf::execution_unit* context, caf::mailbox_element_ptr* back) {
  if (back != nullptr && reason.why.code() == node_errc::link_down)
    *back = std::move(what);
  else
    undo(receiver, *what, reason, context);
}

/// Counts and logs the message by its reason, and tells the waiting actor.
void message_sender::undo(std::uint64_t receiver, caf::mailbox_element& what, const unsent& not_sent,
                          caf::execution_unit* context) {
  const auto& reason = not_sent.why;
  of_.unsent.count_unsent(reason);
  if (const auto* notes = notes_of(what); notes != nullptr && notes->trace)
    notes->trace->fails(reason.message());
  // The end of a link was logged already, and its senders may continue for long. CAF also sends unsolicited errors, in
  // answer to messages that have no handler, or to a result for which no actor waits.
  const auto is_expected = reason.code() == node_errc::link_down
                           || (!what.mid.is_response() && message_view{what}.kind() == message_kind::error);
  const auto is_known = is_expected || (not_sent.is_of_type && !refused_types_.is_new(reason.message()));
  of_.link.log.say(is_known ? log_level::debug : log_level::warning, [&] {
    return "not sent to " + of_.link.peer_name() + ": " + reason.message()
           + (not_sent.is_of_type ? "; logged once, counted in link_stats::unserializable" : "");
  });
  if (of_.letters.is_wanted())
    of_.letters.not_sent(receiver, what, reason);
  tell_asker(receiver, what, reason, context);
}

/// The requester gets the reason. If the message is an answer, its receiver gets the reason, as long as the link lives.
void message_sender::tell_asker(std::uint64_t receiver, caf::mailbox_element& what, const node_error& reason,
                                caf::execution_unit* context) {
  if (what.mid.is_request() && what.sender)
    answer_with(reason, what.sender, what.mid.response_id(), nullptr, context);
  else if (what.mid.is_response() && reason.code() != node_errc::link_down
           && message_view{what}.kind() != message_kind::error)
    send(receiver, caf::make_mailbox_element(what.sender, what.mid, {}, to_caf_error(reason)), context);
}

// -- messages that are encoded elsewhere

/// Returns false if the message has to be sent on this thread.
bool message_sender::offload(std::uint64_t receiver, caf::mailbox_element_ptr& what, caf::execution_unit* context,
                             receipt* owed, bytes_view extensions) {
  const auto verdict = offload_.take(receiver, what, owed, extensions);
  for (const auto& each : verdict.dropped) {
    of_.gate.note_dropped();
    const node_error why{node_errc::link_busy, "the message was dropped to make room for newer ones (drop_oldest)"};
    if (of_.letters.is_wanted())
      of_.letters.not_sent(each.receiver, *each.what.element, why);
    if (const auto* notes = notes_of(*each.what.element); notes != nullptr && notes->trace)
      notes->trace->fails(why.message());
    tell_asker(each.receiver, *each.what.element, why, context);
  }
  if (verdict.reason)
    undo(receiver, *what, *verdict.reason, context);
  if (verdict.wakes_encoder)
    encode_soon();
  return verdict.what != offload_verdict::kind::here;
}

/// Called once for each message.
void message_sender::encode_soon() {
  of_.encoder.run_soon([this, weak = link_] {
    if (const auto link = weak.lock()) // The link owns this object.
      encode_next();
  });
}

void message_sender::encode_next() {
  if (auto next = offload_.next())
    encode(std::make_shared<offloaded_message>(*std::move(next)));
}

/// Encodes and sends one waiting message. If several links send it, the first one encodes it. The others are called
/// again when that is done.
void message_sender::encode(const std::shared_ptr<offloaded_message>& next) {
  const message_view content{*next->what.element};
  const auto* const place = content.is_shared() ? content.place() : nullptr;
  const auto again = [this, weak = link_, next] {
    if (const auto link = weak.lock())
      of_.encoder.run_soon([this, weak, next] {
        if (const auto alive = weak.lock())
          encode(next);
      });
  };
  if (place != nullptr && !of_.encoding.encodings.begin(place, again))
    return;
  const std::unique_ptr<const void, std::function<void(const void*)>> turn{
      place, [&all = of_.encoding.encodings](const void* ended) { all.done(ended); }};
  auto element = std::move(next->what.element); // `next` keeps the proxy until the message counts as done.
  auto* const owed = next->what.owed ? &*next->what.owed : nullptr;
  if (of_.link.is_open())
    encode_and_send(next->receiver, std::move(element), nullptr, owed, next->what.extensions, nullptr);
  else
    undo(next->receiver, *element, of_.link.down(), nullptr);
  if (offload_.done(next->receiver, next->size_bytes, next->is_answer))
    encode_soon();
}

void message_sender::end() {
  for (const auto& each : offload_.take_all())
    undo(each.receiver, *each.what.element, of_.link.down(), nullptr);
}

} // namespace troupe::internal
