#include <troupe/framework/internal/link/delivery.hpp>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/caf_port/actor_dispatcher.hpp>
#include <troupe/framework/internal/caf_port/asker.hpp>
#include <troupe/framework/internal/caf_port/error_answers.hpp>
#include <troupe/framework/internal/caf_port/message_view.hpp>
#include <troupe/framework/internal/caf_port/passed_message.hpp>
#include <troupe/framework/internal/caf_port/question_id.hpp>
#include <troupe/framework/internal/words/failing.hpp>

namespace troupe::internal {

namespace {

bool has(const message_head& head, std::uint8_t flags) {
  return (head.flags & flags) != 0;
}

caf::message_id id_of(const message_head& head) {
  return message_id_of(head.request_number, has(head, message_flags::urgent), has(head, message_flags::response));
}

/// What the stand-in for the requester remembers. A peer may let requests wait for long, so large texts are dropped.
std::unique_ptr<const request_context> context_of(const message_notes& notes) {
  constexpr std::size_t text_bytes_max = 512;
  if (notes.is_empty() && !notes.answers_to)
    return nullptr;
  auto made =
      std::make_unique<request_context>(request_context{.deadline = notes.deadline, .answers_to = notes.answers_to});
  if (notes.trace) {
    made->trace = notes.trace->context();
    if (made->trace->baggage().size() > text_bytes_max)
      static_cast<void>(made->trace->set_baggage({}));
  }
  return made;
}

} // namespace

// -- routes

std::expected<message_route*, node_error> route_finder::look_up(const message_head& head, taken_question& returned) {
  forget();
  auto found = ends_.find_ends(head, returned);
  if (!found)
    return std::unexpected{std::move(found).error()};
  if (found->hides_own_sender)
    warnings_.warn([&] {
      return "a message from " + peer_ + " names this node's actor " + grouped(head.sender)
             + " as its sender, but that actor has sent " + peer_
             + " no message to forward; it is delivered without a sender";
    });
  last_ = message_route{*std::move(found)};
  receiver_ = head.receiver;
  sender_ = head.sender;
  is_reusable_ = !has(head, message_flags::returned);
  return &last_;
}

void route_finder::forget() {
  if (const auto more = std::exchange(uncounted_, 0); more > 0)
    ends_.count_mentions(sender_, more);
  is_reusable_ = false;
  last_ = {};
}

// -- messages that are refused

void delivery::refuse_unasked() {
  count_undelivered();
  warnings_.say(log_level::debug, [&] { return peer_ + " forwards a request that is not pending (any more)"; });
}

void delivery::refuse_answer() {
  count_undelivered();
  warnings_.say(log_level::debug, [&] { return "a response from " + peer_ + " matches no request"; });
}

void delivery::refuse_expired(const message_route& to, const message_head& head) {
  counts_.expired->fetch_add(1, std::memory_order_relaxed);
  warnings_.say(log_level::debug, [&] { return "a request from " + peer_ + " came after its deadline"; });
  if (to.sender())
    answer_with({node_errc::timed_out, "the request came after its deadline"}, to.sender(), id_of(head).response_id(),
                to.receiver(), nullptr);
}

void delivery::answer_again(const message_route& to, const message_head& head, const caf::message& answer) {
  to.sender()->enqueue(to.receiver(), id_of(head).response_id(), answer, nullptr);
}

void delivery::refuse_forgotten(const message_route& to, const message_head& head) {
  answer_with({node_errc::outcome_unknown,
               "the request was sent before and may have been handled, but its answer is not "
               "kept any more (node_options::answer_memory_bytes, answer_memory_time)"},
              to.sender(), id_of(head).response_id(), to.receiver(), nullptr);
}

/// Adds the notes to a message for an actor of this node.
caf::mailbox_element_ptr delivery::annotated(const message_route& to, caf::mailbox_element_ptr whole,
                                             message_notes notes) const {
  if (notes.is_empty() || to.way_on() != nullptr)
    return whole;
  if (notes.deadline)
    notes.expired = counts_.expired;
  if (notes.trace && notes.trace->is_recorded()) {
    notes.trace->set_actor(to.receiver()->id());
    if (!whole->mid.is_response()) // An answer ends the span of its request.
      notes.trace->set_operation(message_view{*whole}.first_atom());
    notes.trace->decoded();
  }
  return annotate(std::move(whole), std::move(notes), to.receiver()->get());
}

/// Returns the sender for the mailbox element. For a remote request it is a stand-in that takes the answer.
caf::strong_actor_ptr delivery::sender_of(message_route& to, const message_head& head, const message_notes& notes) {
  const auto& sender = to.sender();
  if (!has(head, message_flags::request) || to.way_on() != nullptr || as_proxy(sender) == nullptr)
    return to.take_sender();
  return make_asker(system_, sender, message_id_of(head.request_number, has(head, message_flags::urgent), false),
                    context_of(notes), handling_begins());
}

/// For the request that is about to be put into a mailbox.
handling_start delivery::handling_begins() noexcept {
  const auto stands_for = counts_.times_handlers ? timed_requests_.next() : 0;
  if (stands_for == 0)
    return {};
  return {.at = std::chrono::steady_clock::now(), .stands_for = stands_for};
}

// -- a message

std::expected<void, node_error> delivery::deliver(message_route& to, const message_head& head, message_kind kind,
                                                  message_under_construction&& message, receipt owed,
                                                  message_notes notes) {
  if (kind == message_kind::exit) {
    if (auto admitted = admit_exit(head); !admitted)
      return admitted;
    if (ends_.serves_all_links(to.receiver())) {
      count_undelivered();
      warnings_.warn(
          [&] { return "an exit message from " + peer_ + " to an actor that serves all links was not delivered"; });
      return {};
    }
  }
  if (refuses_bare_error(to, head, kind))
    return {};
  if (kind == message_kind::error && notes.trace)
    notes.trace->set_error("the answer is an error");
  auto sender = sender_of(to, head, notes);
  auto whole = annotated(to, std::move(message).finish(std::move(sender), id_of(head)), std::move(notes));
  if (auto* way_on = to.way_on())
    way_on->link()->forward_decoded(way_on->number(), std::move(whole), std::move(owed), head.extensions);
  else
    deliver_to(to.receiver(), std::move(whole));
  return {};
}

void delivery::deliver_ordinary(message_route& to, const message_head& head, message_under_construction&& message) {
  deliver_to(to.receiver(), std::move(message).finish(to.take_sender(), id_of(head)));
}

void delivery::deliver(message_route& to, const message_head& head, caf::message&& content, receipt owed,
                       message_notes notes) {
  if (refuses_bare_error(to, head, message_view{content}.kind()))
    return;
  auto sender = sender_of(to, head, notes);
  auto whole = annotated(to, make_passed_message(std::move(sender), id_of(head), std::move(content), std::move(owed)),
                         std::move(notes));
  if (auto* way_on = to.way_on(); way_on != nullptr && !head.extensions.empty())
    way_on->link()->forward_decoded(way_on->number(), std::move(whole), {}, head.extensions);
  else
    deliver_to(to.receiver(), std::move(whole));
}

bool delivery::forward(const message_route& to, const message_head& head, const forwarded_message& message,
                       receipt& owed) {
  return to.way_on()->link()->forward(to.way_on()->number(), message, to.sender(), id_of(head), owed);
}

std::expected<void, node_error> delivery::give_up(const message_route& to, const message_head& head,
                                                  node_error reason) {
  if (reason.code() == node_errc::protocol_violation)
    return std::unexpected{std::move(reason)};
  counts_.undecodable.fetch_add(1, std::memory_order_relaxed);
  warnings_.warn([&] { return "a message from " + peer_ + " was not delivered: " + reason.message(); });
  if (has(head, message_flags::response))
    answer_with(reason, to.receiver(), id_of(head), to.sender(), dispatching_unit());
  else if (has(head, message_flags::request) && to.sender())
    answer_with(reason, to.sender(), id_of(head).response_id(), to.receiver(), nullptr);
  return {};
}

std::expected<void, node_error> delivery::admit_exit(const message_head& head) const {
  if (!allow_exit_) // The hello of this end has said so.
    return violation("the peer sends an exit message, which this link does not allow");
  if (has(head, message_flags::request | message_flags::response))
    return violation("the peer sends an exit message as a request or an answer");
  return {};
}

/// CAF ends an actor that receives a bare error. A peer may do that only if it may send exit messages.
bool delivery::refuses_bare_error(const message_route& to, const message_head& head, message_kind kind) {
  if (has(head, message_flags::response) || kind != message_kind::error
      || (allow_exit_ && !ends_.serves_all_links(to.receiver())))
    return false;
  count_undelivered();
  warnings_.warn([&] { return "an unsolicited error from " + peer_ + " was not delivered"; });
  if (has(head, message_flags::request) && to.sender())
    answer_with({node_errc::unsupported, "an error cannot be sent as a request"}, to.sender(),
                id_of(head).response_id(), to.receiver(), nullptr);
  return true;
}

} // namespace troupe::internal
