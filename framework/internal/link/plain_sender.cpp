#include <troupe/framework/internal/link/plain_sender.hpp>

#include <span>
#include <utility>

#include <troupe/framework/internal/link/sent_head.hpp>

namespace troupe::internal {

bool plain_sender::send(const plain_message& message, std::uint64_t receiver, const caf::strong_actor_ptr& sender,
                        caf::message_id id) {
  auto head = head_of(receiver, id);
  const auto is_answer = id.is_response();
  const auto is_request = id.is_request();
  if (is_request && !sender)
    return false;
  auto held = of_.link.mutex.lock();
  if (!of_.gate.is_open(held) || message.peer_epoch != of_.lists.peer_epoch() || !of_.leaving.empty(held)
      || !know_signature(held, message))
    return false;
  head.signature = message.signature->number;
  if (sender) {
    head.sender = of_.actors.plain_number(held, sender);
    if (head.sender == 0)
      return false;
  }
  const auto head_bytes = written_message_head{head};
  const auto cost = head_bytes.bytes().size() + message.elements.size() + message_cost_bytes;
  if (is_answer ? !of_.gate.answer_leaves(held) : !of_.gate.leaves_at_once(held, receiver, cost, is_request))
    return false;
  auto& out = *to_->open_outbox(held);
  out.reserve(packet_head_bytes + head_bytes.bytes().size() + message.elements.size());
  if (sender)
    of_.actors.name_plainly(held, sender, !is_request && !is_answer);
  const question_key question{head.sender, head.request_number};
  if (is_request)
    ask(held, question, receiver, sender, id);
  // From here on nothing fails.
  if (is_request)
    of_.gate.expect_answer(held, question, receiver);
  if (!is_answer)
    of_.gate.charge(held, receiver, cost, {});
  out.append_packet(packet_kind::message, head.flags, head_bytes.bytes(), message.elements);
  add_alone(of_.messages_sent, 1);
  for (const auto& [row, bytes] : std::span{message.carried}.first(message.size))
    if (row != nullptr)
      row->count(bytes);
  to_->flush(held);
  return true;
}

/// Notes the question as pending.
void plain_sender::ask(const link_held& held, const question_key& question, std::uint64_t receiver,
                       const caf::strong_actor_ptr& asker, caf::message_id id) {
  try {
    of_.asked.add(question, receiver, {.who = caf::weak_actor_ptr{asker.get()}, .urgent = id.is_urgent_message()});
  } catch (...) {
    static_cast<void>(of_.actors.take_back(held, question.asker)); // Not the last reference, since the caller has one.
    throw;
  }
}

/// If the thread's cache does not have the number, the link may.
bool plain_sender::know_signature(const link_held& held, const plain_message& message) const {
  auto& number = message.signature->number;
  if (number == known_type::unknown_signature)
    if (const auto known = of_.words.find_signature(held, message.signed_types()))
      number = *known;
  return number != known_type::unknown_signature;
}

} // namespace troupe::internal
