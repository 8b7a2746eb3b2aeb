#include <troupe/framework/internal/link/delivery.hpp>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/caf_port/actor_dispatcher.hpp>
#include <troupe/framework/internal/caf_port/asker.hpp>
#include <troupe/framework/internal/caf_port/messages.hpp>
#include <troupe/framework/internal/caf_port/passed_message.hpp>
#include <troupe/framework/internal/caf_port/question_id.hpp>
#include <troupe/framework/internal/words/failing.hpp>
#include <troupe/framework/node_error.hpp>

namespace troupe::internal {

namespace {

bool has(const message_head& head, std::uint8_t flags) {
  return (head.flags & flags) != 0;
}

caf::message_id id_of(const message_head& head) {
  return message_id_of(head.request_number, has(head, message_flags::urgent), has(head, message_flags::response));
}

} // namespace

// -- the pair

std::expected<void, node_error> delivery::look_up(const message_head& head) {
  settle();
  auto found = desk_.find_ends(head, awaited_);
  if (!found)
    return std::unexpected{std::move(found).error()};
  if (found->hides_own_sender)
    warnings_.warn([&] {
      return "a message from " + peer_ + " names this node's actor " + grouped(head.sender)
             + " as its sender, which has sent " + peer_
             + " nothing that it could pass on; it is delivered without a sender";
    });
  last_ = {.receiver_number = head.receiver,
           .sender_number = head.sender,
           .receiver = std::move(found->receiver),
           .sender = prepaid_actor{std::move(found->sender)},
           .way_on = nullptr,
           .is_reusable = !has(head, message_flags::returned),
           .is_unasked = found->is_unasked};
  last_.way_on = as_proxy(last_.receiver);
  return {};
}

void delivery::settle() {
  if (last_.uncounted > 0)
    desk_.count_mentions(last_.sender_number, last_.uncounted);
  last_ = {};
}

void delivery::refuse_unasked() {
  count_undelivered();
  warnings_.say(log_level::debug, [&] { return peer_ + " forwards a request that is not pending (any more)"; });
}

void delivery::note_answer(const message_head& head) {
  awaited_ = {caf::weak_actor_ptr{last_.receiver.get()}, id_of(head)};
}

void delivery::refuse_answer() {
  count_undelivered();
  warnings_.say(log_level::debug, [&] { return "a response from " + peer_ + " answers nothing that was asked"; });
}

/// The actor that gets the answer, where one is due.
caf::strong_actor_ptr delivery::sender_of(const message_head& head) {
  const auto& sender = last_.sender.get();
  if (!has(head, message_flags::request) || last_.way_on != nullptr || as_proxy(sender) == nullptr)
    return last_.sender.take();
  return make_asker(system_, sender, message_id_of(head.request_number, has(head, message_flags::urgent), false));
}

// -- a message

std::expected<void, node_error> delivery::deliver(const message_head& head, std::uint32_t type_token,
                                                  message_under_construction&& message, receipt owed) {
  if (type_token == caf::make_type_token<caf::exit_msg>()) {
    if (auto admitted = admit_exit(head); !admitted)
      return admitted;
    if (desk_.serves_all_links(last_.receiver)) {
      count_undelivered();
      warnings_.warn([&] { return "an exit message from " + peer_ + " to who serves all links was not delivered"; });
      return {};
    }
  }
  if (refuses_bare_error(head, type_token))
    return {};
  auto whole = std::move(message).finish(sender_of(head), id_of(head));
  if (auto* way_on = last_.way_on)
    way_on->link()->pass_on(way_on->number(), std::move(whole), std::move(owed), head.extensions);
  else
    last_.receiver->enqueue(std::move(whole), dispatching_unit());
  return {};
}

void delivery::deliver(const message_head& head, caf::message&& content, receipt owed) {
  if (refuses_bare_error(head, content.type_token()))
    return;
  auto whole = make_passed_message(sender_of(head), id_of(head), std::move(content), std::move(owed));
  if (auto* way_on = last_.way_on; way_on != nullptr && !head.extensions.empty())
    way_on->link()->pass_on(way_on->number(), std::move(whole), {}, head.extensions);
  else
    last_.receiver->enqueue(std::move(whole), dispatching_unit());
}

bool delivery::pass_on(const message_head& head, const forwarded_message& message, receipt& owed) {
  return last_.way_on->link()->forward(last_.way_on->number(), message, last_.sender.get(), id_of(head), owed);
}

std::expected<void, node_error> delivery::give_up(const message_head& head, node_error reason) {
  if (reason.code() == node_errc::protocol_violation)
    return std::unexpected{std::move(reason)};
  counts_.undecodable.fetch_add(1, std::memory_order_relaxed);
  warnings_.warn([&] { return "a message from " + peer_ + " was not delivered: " + reason.message(); });
  const auto& receiver = last_.receiver;
  const auto& sender = last_.sender.get();
  auto text = caf::make_message(to_caf_error(reason));
  if (has(head, message_flags::response))
    receiver->enqueue(sender, id_of(head), std::move(text), dispatching_unit());
  else if (has(head, message_flags::request) && sender)
    sender->enqueue(receiver, id_of(head).response_id(), std::move(text), nullptr);
  return {};
}

std::expected<void, node_error> delivery::admit_exit(const message_head& head) const {
  if (!allow_exit_) // The hello has said so.
    return violation("the peer sends an exit message, which this link does not allow");
  if (has(head, message_flags::request | message_flags::response))
    return violation("the peer sends an exit message as a request or an answer");
  return {};
}

/// CAF ends an actor that gets a bare error, which a peer may do where it may send exit messages.
bool delivery::refuses_bare_error(const message_head& head, std::uint32_t type_token) {
  if (has(head, message_flags::response) || type_token != caf::make_type_token<caf::error>()
      || (allow_exit_ && !desk_.serves_all_links(last_.receiver)))
    return false;
  count_undelivered();
  warnings_.warn([&] { return "an error from " + peer_ + " that answers nothing was not delivered"; });
  const auto& sender = last_.sender.get();
  if (has(head, message_flags::request) && sender)
    sender->enqueue(last_.receiver, id_of(head).response_id(),
                    caf::make_message(to_caf_error({node_errc::unsupported, "an error cannot be asked"})), nullptr);
  return true;
}

} // namespace troupe::internal
