#include <troupe/framework/internal/link/send_gate.hpp>

#include <algorithm>
#include <utility>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/caf_port/caf_threads.hpp>
#include <troupe/framework/internal/words/failing.hpp>
#include <troupe/framework/node_error.hpp>

namespace troupe::internal {

namespace {

using clock = std::chrono::steady_clock;

// A request that is unanswered for this long does not keep the room for its answer any more.
constexpr std::chrono::seconds reply_patience{30};

// How many requests may stay unanswered for longer than that.
constexpr std::size_t unanswered_max = 65'536;

std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) {
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/// Describes how full the windows for bytes behind handles are; empty if the windows are unused or unbounded.
std::string handles_text(const send_window<packed_message>& window, std::uint64_t receiver) {
  const auto& bounds = window.bounds();
  const auto out = window.outstanding_handle_bytes();
  const auto queued = window.queued_handle_bytes();
  if (out + queued == 0 || bounds.handle_window == UINT64_MAX)
    return {};
  return "; behind handles the actor has " + grouped(window.outstanding_handle_bytes(receiver)) + " of "
         + grouped(bounds.actor_handle_window) + " and " + grouped(window.queued_handle_bytes(receiver)) + " of "
         + grouped(bounds.actor_handle_queue) + ", the link " + grouped(out) + " of " + grouped(bounds.handle_window)
         + " and " + grouped(queued) + " of " + grouped(bounds.handle_queue);
}

} // namespace

// -- a message

std::expected<admission, node_error> send_gate::admit(link_held& held, const message_head& head, std::uint64_t cost,
                                                      const behind_handles& behind,
                                                      std::vector<packed_message>& dropped, urgency how) {
  if (!is_open(held))
    return std::unexpected{of_.link.down()};
  if ((head.flags & message_flags::response) != 0) {
    if (auto room = how == urgency::answers_anyway ? std::expected<void, node_error>{} : admit_answer(held); !room)
      return std::unexpected{std::move(room).error()};
    return admission::leaves;
  }
  const auto asks = asked_by(head);
  auto verdict = [&] {
    if (asks == asking::room)
      of_.replies.settle();
    return window_.admit(head.receiver, cost, asks, behind);
  };
  auto admitted = verdict();
  if (admitted == admission::leaves)
    return admitted;
  if (asks == asking::room && !of_.replies.has_room(head.receiver)) {
    of_.replies.want(true);
    reclaim(held);
    admitted = verdict();
  }
  if (admitted == admission::at_bound && how == urgency::always_waits)
    return admission::waits;
  if (admitted == admission::at_bound && of_.options.block_timeout->count() > 0 && may_block()) {
    const auto began = of_.waits != nullptr ? clock::now() : clock::time_point{};
    ++blocked_;
    credit_or_end_.wait_for(held.for_waiting(), *of_.options.block_timeout,
                            [&] { return !is_open(held) || (admitted = verdict()) != admission::at_bound; });
    --blocked_;
    if (!is_open(held))
      return std::unexpected{of_.link.down()};
    if (of_.waits != nullptr && admitted == admission::leaves)
      of_.waits->add(clock::now() - began, 1);
  }
  while (admitted == admission::at_bound && of_.options.when_full == when_full::drop_oldest) {
    auto oldest = window_.drop_oldest(head.receiver);
    if (!oldest)
      break;
    dropped.push_back(*std::move(oldest));
    admitted = verdict();
  }
  if (admitted == admission::at_bound)
    return std::unexpected{busy_error(head.receiver, asks)};
  return admitted;
}

bool send_gate::leaves_at_once(const link_held&, std::uint64_t receiver, std::uint64_t cost, bool request) {
  const auto asks = asked_by(receiver, request);
  if (asks == asking::room)
    of_.replies.settle();
  return window_.is_known(receiver) && window_.admit(receiver, cost, asks) == admission::leaves;
}

asking send_gate::asked_by(const message_head& head) const {
  if ((head.flags & message_flags::returned) != 0)
    return asking::returned;
  return asked_by(head.receiver, (head.flags & message_flags::request) != 0);
}

/// For a message that is not passed back. Tasks reserve no room, because they differ too much to predict an answer from
/// the last one, and because no task may delay others.
asking send_gate::asked_by(std::uint64_t receiver, bool request) const {
  return request && receiver != of_.link.agreed().peer.runner ? asking::room : asking::nothing;
}

bool send_gate::answer_leaves(const link_held& held) const {
  return unread_bytes(held) <= unread_answers_bound();
}

std::uint64_t send_gate::unread_bytes(const link_held& held) const {
  return to_->unwritten_bytes(held) + of_.leaving.bytes(held);
}

/// Answers do not wait for credit. But a peer that asks and does not read gets no more of them.
std::expected<void, node_error> send_gate::admit_answer(const link_held& held) const {
  const auto unread = unread_bytes(held);
  if (unread <= unread_answers_bound())
    return {};
  return fail(node_errc::link_busy, grouped(unread) + " bytes wait until " + of_.link.peer_name() + " reads, limit "
                                        + grouped(unread_answers_bound())
                                        + "; ask for less at a time, or raise unread_answer_bytes there");
}

std::uint64_t send_gate::unread_answers_bound() const {
  // A single message on its way may exceed the window.
  return saturating_sum(std::max(window_.bounds().window, window_.outstanding_bytes()),
                        of_.options.unread_answer_bytes);
}

node_error send_gate::busy_error(std::uint64_t receiver, asking asks) const {
  const auto& bounds = window_.bounds();
  if (asks == asking::room && !of_.replies.has_room(receiver))
    return {node_errc::link_busy, "the link to " + of_.link.peer_name() + " expects answers of "
                                      + grouped(of_.replies.bytes()) + " bytes, limit "
                                      + grouped(of_.replies.bounds().all)
                                      + "; ask again after link_ready, or raise window_bytes"};
  return {node_errc::link_busy,
          "actor " + grouped(receiver) + " at " + of_.link.peer_name() + " has "
              + grouped(window_.outstanding_bytes(receiver)) + " of " + grouped(bounds.actor_window)
              + " bytes unconsumed and " + grouped(window_.queued_bytes(receiver)) + " of "
              + grouped(bounds.actor_queue) + " waiting for it here, the link " + grouped(window_.outstanding_bytes())
              + " of " + grouped(bounds.window) + " and " + grouped(window_.queued_bytes()) + " of "
              + grouped(bounds.queue) + handles_text(window_, receiver) + "; send again after link_ready"};
}

void send_gate::expect_answer(const link_held&, const question_key& question, std::uint64_t receiver) {
  if (question.asker != 0 && receiver != of_.link.agreed().peer.runner)
    of_.asked.left(question, receiver, clock::now());
}

void send_gate::note_dropped() {
  of_.dropped.fetch_add(1, std::memory_order_relaxed);
  of_.link.log.say(log_level::debug, [&] {
    return "a message that waited for " + of_.link.peer_name() + " was dropped for a newer one";
  });
}

void send_gate::drop(packed_message message) {
  note_dropped();
  const node_error why{node_errc::link_busy, "the message was dropped, the oldest of those that waited for "
                                                 + of_.link.peer_name() + ", to make room for a newer message"};
  if (of_.letters.is_wanted())
    of_.letters.not_sent(message, why);
  message.claims.fail(why);
}

// -- waiting messages

void send_gate::wait(const link_held&, packed_message message) {
  if (of_.waits != nullptr) {
    message.stands_for = timed_waits_.next();
    if (message.stands_for != 0)
      message.waits_since = clock::now();
  }
  window_.wait(std::move(message));
}

std::optional<packed_message> send_gate::next(const link_held&) {
  auto message = window_.next();
  if (message && message->stands_for != 0)
    of_.waits->add(clock::now() - message->waits_since, message->stands_for);
  return message;
}

std::expected<void, node_error> send_gate::credit(const link_held&, const internal::credit& what) {
  if (window_.credit(what.actor, what.bytes, what.handle_bytes))
    return {};
  return fail(node_errc::protocol_violation, "the peer reports " + grouped(what.bytes) + " consumed bytes for actor "
                                                 + grouped(what.actor) + ", which has "
                                                 + grouped(window_.outstanding_bytes(what.actor)) + " unconsumed, and "
                                                 + grouped(what.handle_bytes) + " behind handles, of "
                                                 + grouped(window_.outstanding_handle_bytes(what.actor)));
}

void send_gate::forget(const link_held&, std::uint64_t receiver) {
  window_.forget(receiver);
  of_.replies.forget(receiver);
}

// -- link_ready

/// Returns true if the next message to that receiver would leave, or find room to wait.
bool send_gate::has_room_for(const link_held&, std::uint64_t receiver) const {
  return window_.is_ready(receiver) && !of_.encoding.has(receiver)
         && of_.encoding.has_room(window_.bounds().window + of_.options.queue_bytes);
}

bool send_gate::is_ready(std::uint64_t receiver) {
  const auto held = of_.link.mutex.lock();
  of_.replies.settle();
  return is_open(held) && has_room_for(held, receiver);
}

void send_gate::notify_when_ready(std::uint64_t receiver, readiness::notice whom) {
  auto held = of_.link.mutex.lock();
  of_.replies.want(true); // Before the check of the consumed answers: later ones find the wish.
  of_.replies.settle();
  if (is_open(held) && !has_room_for(held, receiver)) {
    readiness_.add(held, receiver, std::move(whom));
    return;
  }
  want_answers_if_any_wait(held);
  held.unlock();
  whom.tell();
}

std::vector<readiness::notice> send_gate::take_ready(const link_held& held) {
  return readiness_.take(
      held, [&, open = of_.link.is_open()](std::uint64_t receiver) { return !open || has_room_for(held, receiver); });
}

// -- the peer's answers

void send_gate::reclaim(const link_held&) {
  of_.asked.reclaim(clock::now() - reply_patience);
}

bool send_gate::reclaim_stalled(const link_held& held) {
  reclaim(held);
  of_.replies.settle();
  if (blocked_ == 0 && !readiness_.anybody_waits(held) && !window_.anything_lacks_room())
    return false;
  of_.asked.reclaim_stalled(clock::now(), unanswered_max);
  return true;
}

void send_gate::give_up_old_requests() {
  auto held = of_.link.mutex.lock();
  const auto given_up = of_.asked.take_oldest(unanswered_max);
  held.unlock();
  for (const auto& [question, asker] : given_up)
    asker.fail(question, {node_errc::timed_out, of_.link.peer_name() + " has answered neither this request nor "
                                                    + grouped(unanswered_max) + " later ones"});
}

std::optional<node_error> send_gate::excess_of_unread() const {
  auto held = of_.link.mutex.lock();
  const auto unread = to_->unwritten_bytes(held);
  // A single answer may exceed the bound, unless it is sent in chunks.
  const auto limit = saturating_sum(
      unread_answers_bound(), std::max<std::uint64_t>(of_.options.unread_answer_bytes, 2 * packet_body_bytes_max));
  held.unlock();
  if (unread <= limit)
    return std::nullopt;
  return node_error{node_errc::link_down, "the peer sends requests but does not read: " + grouped(unread)
                                              + " bytes wait for it, limit " + grouped(limit)};
}

} // namespace troupe::internal
