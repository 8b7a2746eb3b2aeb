#include <troupe/framework/internal/link/draft_sender.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/caf_port/asker.hpp>
#include <troupe/framework/internal/link/sent_head.hpp>
#include <troupe/framework/internal/wire/kept_definitions.hpp>
#include <troupe/framework/internal/wire/message_deadline.hpp>
#include <troupe/framework/internal/wire/message_extensions.hpp>
#include <troupe/framework/internal/words/failing.hpp>
#include <troupe/framework/internal/words/text.hpp>

namespace troupe::internal {

namespace {

message_head head_of(const message_draft& message, std::uint64_t receiver, caf::message_id id) {
  auto head = internal::head_of(receiver, id);
  if (!message.extensions().empty()) {
    head.flags |= message_flags::extended;
    head.extensions = message.extensions();
  }
  return head;
}

} // namespace

std::expected<void, unsent> draft_sender::send(message_draft& message, std::uint64_t receiver,
                                               const caf::strong_actor_ptr& sender, caf::message_id id) {
  auto head = head_of(message, receiver, id);
  if (of_.actors.is_peers(itself(sender))) // The answer will not cross this link.
    head.flags |= message_flags::returned;
  if (sender && !of_.actors.can_name(itself(sender)))
    return fail(node_errc::unserializable, "the message's sender cannot be named: " + actor_names::why_not_named());
  const std::uint64_t message_head_bytes_max = written_message_head::size_max + head.extensions.size();
  const auto stated_bytes =
      of_.link.agreed().features.has(feature::value_bytes) ? value_bytes_of(message.extensions()) : 0;
  std::vector<packed_message> dropped;
  auto held = of_.link.mutex.lock();
  auto admitted =
      of_.gate.admit(held, head, std::max(message.cost_without_head() + message_head_bytes_max, stated_bytes),
                     message.cargo().behind(), dropped, message.how());
  // While it waited for room, the peer may have changed its lists, and this end may have acknowledged that nothing
  // older follows.
  const auto is_late = !message.cargo().value.has_value() && !message.cargo().claims.has_epoch()
                       && message.terms().peer_epoch != of_.lists.peer_epoch();
  auto defined =
      admitted && !is_late ? define_signature(held, message) : std::expected<sent_dictionary::numbered, node_error>{};
  if (admitted && !is_late && defined) {
    const auto handle_bytes = message.handle_bytes();
    if (sender)
      name_sender(held, message, head, sender, id, *admitted);
    if (*admitted == admission::leaves)
      of_.gate.expect_answer(held, message.cargo().claims.question(), receiver);
    head.signature = defined->number;
    write_or_pack(held, message, head, *admitted, stated_bytes);
    add_alone(of_.messages_sent, 1);
    add_alone(of_.handle_bytes_sent, handle_bytes);
    message.count_carried();
    to_->flush(held);
    if (defined->is_new)
      log_signature(message, defined->number);
  } else {
    held.unlock();
  }
  for (auto& each : dropped)
    of_.gate.drop(std::move(each));
  if (!admitted)
    return std::unexpected{std::move(admitted).error()};
  if (is_late)
    return outdated(of_.link.peer_name());
  if (!defined)
    return std::unexpected{std::move(defined).error()};
  return {};
}

/// Returns the number of the message's signature. If a new signature exceeds what the peer keeps, this message fails,
/// because the peer would end the link. Messages with signatures that the peer knows are still sent.
std::expected<sent_dictionary::numbered, node_error> draft_sender::define_signature(const link_held& held,
                                                                                    message_draft& message) {
  if (message.cargo().value.has_value())
    return {};
  if (const auto defined = message.types().number(held, of_.words, *to_->open_outbox(held)))
    return *defined;
  return fail(
      node_errc::unserializable,
      of_.link.peer_name() + " keeps at most " + grouped(kept_definitions::signatures_max) + " signatures and "
          + grouped(kept_definitions::bytes_max)
          + " bytes of signatures and headers per link. This message needs signature "
          + grouped(of_.words.signatures(held) + 1) + ", with " + grouped(of_.words.kept_bytes(held))
          + " bytes in use: " + cut(bracketed(message.types().aliases()))
          + ". Send fewer combinations of types: one described struct, or a variant, in place of many elements");
}

void draft_sender::log_signature(const message_draft& message, std::uint64_t number) const {
  of_.link.log.say(log_level::debug, [&] {
    return "to " + of_.link.peer_name() + ": signature " + grouped(number) + " is "
           + cut(bracketed(message.types().aliases()));
  });
}

/// Counts the message's sender as named, and its question as pending.
void draft_sender::name_sender(const link_held& held, message_draft& message, message_head& head,
                               const caf::strong_actor_ptr& sender, caf::message_id id, admission admitted) {
  auto& claims = message.cargo().claims;
  const auto name = of_.actors.name(held, itself(sender));
  head.sender = name.number;
  auto* asking = id.is_request() ? as_asker(sender) : nullptr;
  if (name.whose == actor_name::side::yours) {
    if (const auto& call = message.cargo().call) // The answer does not come here.
      call->ends();
    claims.keep(sender);
    if (asking == nullptr)
      return;
    claims.excuses(sender);
    if (admitted == admission::leaves)
      claims.excuse_asker();
    return;
  }
  claims.sender(held, name.number);
  if (id.is_request())
    claims.question(held, {name.number, head.request_number}, head.receiver,
                    {.who = caf::weak_actor_ptr{sender.get()},
                     .urgent = id.is_urgent_message(),
                     .forwarded_for = asking != nullptr ? sender : nullptr,
                     .call = std::move(message.cargo().call)});
  else if (!id.is_response())
    claims.allow_return(held);
}

/// Requires: the link is open.
void draft_sender::write_or_pack(const link_held& held, message_draft& message, message_head& head, admission admitted,
                                 std::uint64_t stated_bytes) {
  auto& out = *to_->open_outbox(held);
  auto& cargo = message.cargo();
  auto start = message.start(head);
  const bool data = (head.flags & message_flags::response) == 0;
  const auto cost = data ? std::max<std::uint64_t>(start.size() + message.cost_without_head(), stated_bytes) : 0;
  cargo.claims.flights().count(held);
  if (data && admitted == admission::leaves && of_.gate.charge(held, head.receiver, cost, cargo.behind()))
    head.flags |= message_flags::repeated;
  if (admitted == admission::leaves && !of_.leaving.is_bulk(held, cargo, head.receiver, head.sender, head.flags)) {
    if (const auto at = message.deadline_at(); at != 0)
      state_time_left(start.subspan(at, deadline_bytes), std::chrono::steady_clock::now());
    of_.leaving.append(held, head.flags, start, message.elements(), cargo, out);
    return;
  }
  if (!cargo.value.has_value() && !cargo.claims.has_epoch())
    cargo.claims.epoch(held, message.terms().peer_epoch);
  cargo.claims.keep(of_.actors.proxy_of(held, head.receiver));
  byte_vector body; // Reserved before the claims move: if this throws, the claims end with the draft, outside the lock.
  body.reserve(start.size() + message.elements().size());
  body.insert(body.end(), start.begin(), start.end());
  body.insert(body.end(), message.elements().begin(), message.elements().end());
  packed_message packed{{std::move(cargo)},      head.receiver, head.sender,     head.flags,
                        of_.gate.asked_by(head), cost,          std::move(body), message.deadline_at()};
  cargo.value.reset();
  packed.may_be_dropped = message.how() == urgency::ordinary;
  if (admitted == admission::waits)
    of_.gate.wait(held, std::move(packed));
  else if (of_.leaving.leave(held, std::move(packed), out))
    to_->write_refills(held);
}

} // namespace troupe::internal
