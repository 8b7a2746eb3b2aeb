// Back-pressure on a link: what may be sent, what has been consumed, and whether the peer is alive at all.
#include <algorithm>
#include <string>
#include <utility>

#include <asio/post.hpp>
#include <asio/steady_timer.hpp>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/caf_port/caf_threads.hpp>
#include <troupe/framework/internal/link/link_core.hpp>
#include <troupe/framework/internal/link/link_host.hpp>
#include <troupe/framework/node_error.hpp>

namespace troupe::internal {

namespace {

using clock = std::chrono::steady_clock;

std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) {
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/// How full the windows for bytes behind handles are, where there are any.
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

// A request that is not answered for so long no longer keeps room for its answer from others.
constexpr std::chrono::seconds reply_patience{30};

// So many requests may stay unanswered for longer than that.
constexpr std::size_t unanswered_max = 65'536;

} // namespace

// -- sending

/// Whether a message may leave or wait; an error that is an answer always may. Lets go of the lock while the caller
/// blocks.
std::expected<admission, node_error> link_core::admit(link_held& held, const message_head& head, std::uint64_t cost,
                                                      const behind_handles& behind,
                                                      std::vector<packed_message>& dropped, urgency how) {
  auto down = [this] { return node_error{node_errc::link_down, "the link to " + agreed().peer.name + " is down"}; };
  if (!accepts_messages(held))
    return std::unexpected{down()};
  if ((head.flags & message_flags::response) != 0) {
    if (auto room = how == urgency::answers_anyway ? std::expected<void, node_error>{} : admit_answer(held); !room)
      return std::unexpected{std::move(room).error()};
    return admission::leaves;
  }
  // Tasks differ too much for the last one's answer to say what the next one's will take, and none may hold up others.
  bool request = (head.flags & message_flags::request) != 0 && head.receiver != agreed().peer.runner;
  auto verdict = [&] {
    if (request)
      replies_.settle();
    return sending_.admit(head.receiver, cost, request, behind);
  };
  auto admitted = verdict();
  if (admitted == admission::leaves)
    return admitted;
  if (request && !replies_.has_room(head.receiver)) {
    replies_.want(true);
    pending_.reclaim(clock::now() - reply_patience);
    admitted = verdict();
  }
  if (admitted == admission::at_bound && how == urgency::always_waits)
    return admission::waits;
  if (admitted == admission::at_bound && options_.block_timeout.count() > 0 && may_block()) {
    room_.wait_for(held.for_waiting(), options_.block_timeout,
                   [&] { return !accepts_messages(held) || (admitted = verdict()) != admission::at_bound; });
    if (!accepts_messages(held))
      return std::unexpected{down()};
  }
  while (admitted == admission::at_bound && options_.when_full == when_full::drop_oldest) {
    auto oldest = sending_.drop_oldest(head.receiver);
    if (!oldest)
      break;
    dropped.push_back(*std::move(oldest));
    admitted = verdict();
  }
  if (admitted == admission::at_bound)
    return std::unexpected{busy_error(held, head.receiver, request)};
  return admitted;
}

/// Answers do not wait for credit, but a peer that asks and does not read gets no more of them.
std::expected<void, node_error> link_core::admit_answer(const link_held& held) const {
  auto unread = connection_->unwritten_bytes(held) + bulk_.bytes();
  if (unread <= unread_answers_bound(held))
    return {};
  return std::unexpected{node_error{node_errc::link_busy, grouped(unread) + " bytes wait until " + agreed().peer.name
                                                              + " reads, limit " + grouped(unread_answers_bound(held))
                                                              + "; ask for less at a time, or raise "
                                                                "unread_answer_bytes there"}};
}

std::uint64_t link_core::unread_answers_bound(const link_held&) const {
  // One message may exceed the window, and is on its way.
  return saturating_sum(std::max(sending_.bounds().window, sending_.outstanding_bytes()), options_.unread_answer_bytes);
}

/// I/O thread. Whether the link ends because small packets, which nothing else bounds, wait for a peer that does not
/// read: errors in place of answers, and what it asked of the link itself.
bool link_core::ends_for_unread() {
  auto held = mutex_.lock();
  auto unread = connection_->unwritten_bytes(held);
  // One answer may exceed the bound, as far as it does not go in chunks.
  auto limit = saturating_sum(unread_answers_bound(held),
                              std::max<std::uint64_t>(options_.unread_answer_bytes, 2 * packet_body_bytes_max));
  held.unlock();
  if (unread <= limit)
    return false;
  connection_->close({node_errc::link_down, "the peer goes on asking and does not read: " + grouped(unread)
                                                + " bytes wait for it, limit " + grouped(limit)},
                     std::chrono::milliseconds{0});
  return true;
}

/// A request leaves: room for its answer is kept from now on.
void link_core::reserve_answer(const link_held&, const question_key& question, std::uint64_t receiver) {
  if (question.asker != 0 && receiver != agreed().peer.runner)
    pending_.left(question, receiver, clock::now());
}

/// I/O thread. A request that timed out where it was asked stays pending here, since CAF does not say so: of those that
/// have not been answered for long, the oldest are given up when there are too many.
void link_core::give_up_old_requests() {
  auto held = mutex_.lock();
  const auto given_up = pending_.take_oldest(unanswered_max);
  held.unlock();
  for (const auto& [question, asker] : given_up)
    asker.fail(question, {node_errc::timed_out, agreed().peer.name + " has not answered for long, and "
                                                    + grouped(unanswered_max) + " later requests neither"});
}

bool link_core::accepts_messages(const link_held& held) const {
  return is_open() && connection_->open_outbox(held) != nullptr;
}

node_error link_core::busy_error(const link_held&, std::uint64_t receiver, bool request) const {
  const auto& bounds = sending_.bounds();
  if (request && !replies_.has_room(receiver))
    return {node_errc::link_busy, "the link to " + agreed().peer.name + " expects answers of "
                                      + grouped(replies_.bytes()) + " bytes, limit " + grouped(replies_.bounds().all)
                                      + "; ask again after link_ready, or raise window_bytes"};
  return {node_errc::link_busy,
          "actor " + grouped(receiver) + " at " + agreed().peer.name + " has "
              + grouped(sending_.outstanding_bytes(receiver)) + " of " + grouped(bounds.actor_window)
              + " bytes to consume and " + grouped(sending_.queued_bytes(receiver)) + " of "
              + grouped(bounds.actor_queue) + " waiting for it here, the link " + grouped(sending_.outstanding_bytes())
              + " of " + grouped(bounds.window) + " and " + grouped(sending_.queued_bytes()) + " of "
              + grouped(bounds.queue) + handles_text(sending_, receiver) + "; send again after link_ready"};
}

/// A message was taken out of those that wait. Not under the lock.
void link_core::drop(packed_message message) {
  counters_.dropped.fetch_add(1, std::memory_order_relaxed);
  log_drop();
  message.claims.fail({node_errc::link_busy, "the request was dropped, the oldest of those that waited for "
                                                 + agreed().peer.name + ", to make room for a newer message"});
}

/// Lets what waits leave, as far as it may now. Lets go of the lock.
void link_core::pump(link_held& held) {
  replies_.settle();
  // Also while the link closes, until the goodbye.
  if (auto* out = connection_ ? connection_->open_outbox(held) : nullptr) {
    while (auto message = sending_.next()) {
      reserve_answer(held, message->claims.question(), message->receiver);
      message->claims.settle();
      leave(held, *std::move(message), *out);
    }
  }
  const auto told = take_ready(held);
  want_replies_if_any_wait(held);
  room_.notify_all();
  if (connection_)
    connection_->flush(held);
  else
    held.unlock();
  for (const auto& each : told)
    each.tell();
}

/// For room to send in, or for answers.
bool link_core::anybody_waits(const link_held& held) const {
  return sending_.anything_waits() || readiness_.anybody_waits(held);
}

void link_core::want_replies_if_any_wait(const link_held& held) {
  replies_.want(anybody_waits(held));
}

/// Room for an answer has come free without one that could be consumed. Lets go of the
/// lock.
void link_core::pump_for_reply_room(link_held& held) {
  if (anybody_waits(held))
    pump(held);
  else
    held.unlock();
}

/// The message is charged already.
void link_core::leave(const link_held& held, packed_message message, outbox& out) {
  if (message.transfers.empty() && !bulk_.has(bulk_key::of(message.receiver, message.sender, message.flags))) {
    append_packed(held, std::move(message), out);
  } else {
    bulk_.add(std::move(message));
    connection_->write_refills(held);
  }
}

void link_core::append_packed(const link_held& held, packed_message message, outbox& out) {
  append_mentions(held, message.mentions, out);
  out.append_packet(message.value.has_value() ? packet_kind::value : packet_kind::message, message.flags, message.body);
  if (message.value.has_value())
    values_->push(message.value);
  message.claims.commit(held, out);
  out.keep(std::make_shared<packed_message>(std::move(message))); // Its frames end outside of the lock.
}

/// Chunks of messages and of objects that the peer has asked for take turns.
bool link_core::refill(const link_held& held, outbox& out) {
  piece_is_next_ = !piece_is_next_;
  if ((piece_is_next_ || bulk_.empty()) && append_piece(held, out))
    return true;
  if (bulk_.empty())
    return false;
  auto step = bulk_.next();
  if (step.chunk) {
    byte_vector start;
    append_chunk_head(start, *step.chunk, step.first);
    out.append_packet(packet_kind::chunk, step.first ? chunk_flags::first : std::uint8_t{0}, start,
                      std::move(step.bytes));
  } else {
    append_packed(held, *std::move(step.message), out);
  }
  if (farewell_.is_under_way() && bulk_.empty())
    asio::post(node_->io(), [self = shared_from_this()] { self->farewell_.look(); });
  return true; // Asked again, it says whether there was more.
}

void link_core::flush_batch() {
  if (connection_)
    connection_->flush_batch();
}

// -- credit

std::expected<void, node_error> link_core::on_credit(const credit& what) {
  auto held = mutex_.lock();
  if (!sending_.credit(what.actor, what.bytes, what.handle_bytes)) {
    auto outstanding = sending_.outstanding_bytes(what.actor);
    auto behind_handles = sending_.outstanding_handle_bytes(what.actor);
    held.unlock();
    return std::unexpected{
        node_error{node_errc::protocol_violation, "the peer has consumed " + grouped(what.bytes) + " bytes of actor "
                                                      + grouped(what.actor) + ", which was sent " + grouped(outstanding)
                                                      + ", and " + grouped(what.handle_bytes) + " behind handles, of "
                                                      + grouped(behind_handles)}};
  }
  pump(held);
  farewell_.look();
  return {};
}

/// I/O thread.
void link_core::report_consumed() {
  for (const auto& due : receiving_->take_due())
    admin_.send(admin_op::credit, credit{.actor = due.actor, .bytes = due.bytes, .handle_bytes = due.handle_bytes});
}

/// From any thread. Room for answers has come free.
void link_core::pump_soon(const std::weak_ptr<link_core>& of) {
  if (const auto link = of.lock())
    asio::post(link->node_->io(), [of] {
      if (const auto alive = of.lock()) {
        auto held = alive->mutex_.lock();
        alive->pump(held);
      }
    });
}

// -- link_ready

bool link_core::is_ready(std::uint64_t receiver) {
  const auto held = mutex_.lock();
  replies_.settle();
  return accepts_messages(held) && has_room_for(held, receiver);
}

void link_core::notify_when_ready(std::uint64_t receiver, const caf::strong_actor_ptr& proxy,
                                  const caf::strong_actor_ptr& who) {
  auto held = mutex_.lock();
  replies_.want(true); // Before what was consumed so far is looked at: what comes later finds it.
  replies_.settle();
  if (accepts_messages(held) && !has_room_for(held, receiver)) {
    readiness_.add(held, receiver, {.who = who, .receiver = proxy});
    return;
  }
  want_replies_if_any_wait(held);
  held.unlock();
  readiness::notice{.who = who, .receiver = proxy}.tell();
}

/// Takes out those whose receiver has room again, or will never have.
std::vector<readiness::notice> link_core::take_ready(const link_held& held) {
  return readiness_.take(
      held, [&, open = is_open()](std::uint64_t receiver) { return !open || has_room_for(held, receiver); });
}

// -- heartbeats

signs_of_life link_core::signs_of_peer() const {
  return {connection_->bytes_read(), connection_->slices_taken(), connection_->stalled()};
}

/// I/O thread. Looks at the peer's life from now on.
void link_core::start_heartbeat() {
  heartbeat_.begin(signs_of_peer(), clock::now());
  heartbeat_timer_ = std::make_shared<asio::steady_timer>(node_->io());
  beat_later();
}

void link_core::beat_later() {
  heartbeat_timer_->expires_after(heartbeat_.pause());
  heartbeat_timer_->async_wait([weak = weak_from_this()](std::error_code cancelled) {
    auto link = weak.lock();
    if (!cancelled && link && link->is_open() && link->beat())
      link->beat_later();
  });
}

/// False when the link ends: the peer is gone, or asks and does not read.
bool link_core::beat() {
  {
    auto held = mutex_.lock();
    pending_.reclaim(clock::now() - reply_patience);
    if (anybody_waits(held))
      pump(held);
  }
  if (ends_for_unread())
    return false;
  give_up_old_requests();
  const auto asks = heartbeat_.beat(signs_of_peer(), clock::now());
  if (!asks) {
    connection_->close(asks.error(), std::chrono::milliseconds{0});
    return false;
  }
  if (*asks)
    admin_.send(admin_op::ping, ping{});
  return true;
}

} // namespace troupe::internal
