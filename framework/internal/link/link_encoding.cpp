// Large messages are encoded off their senders' threads, by an actor of the node's.
#include <algorithm>
#include <utility>

#include <troupe/framework/internal/caf_port/actors/job_actor.hpp>
#include <troupe/framework/internal/caf_port/asker.hpp>
#include <troupe/framework/internal/caf_port/caf_threads.hpp>
#include <troupe/framework/internal/link/link_core.hpp>
#include <troupe/framework/internal/link/link_host.hpp>
#include <troupe/framework/internal/link/outgoing_message.hpp>

namespace troupe::internal {

/// True when the message was taken, or has failed: it is large and comes from an actor, or others are ahead of it.
bool link_core::encode_elsewhere(std::uint64_t receiver, caf::mailbox_element_ptr& what, caf::execution_unit* context,
                                 bytes_view extensions) {
  if (may_block()) // A thread of the user's own, which waits for room if need be.
    return false;
  thread_local outgoing_message scale;
  const auto enough = offload_bytes_.load(std::memory_order_relaxed);
  const auto bytes = scale.weigh(*this, std::as_const(*what).content(), enough);
  const auto is_large = enough > 0 && bytes >= enough;
  if (!is_large && encoding_.is_idle())
    return false;
  constexpr std::uint64_t least_bytes = 128;
  const auto is_answer = what->mid.is_response();
  // Who waits for an answer that failed gets the error in any case.
  const auto is_error = is_answer && std::as_const(*what).content().match_elements<caf::error>();
  const auto* sender = itself(what->sender).get();
  using lane = encoding_lane<unencoded_message>;
  lane::waiting message{.receiver = receiver,
                        .what = {.element = std::move(what),
                                 .proxy = actors_.proxy_of(receiver),
                                 .extensions = {extensions.begin(), extensions.end()}},
                        .size_bytes = std::max(bytes, least_bytes),
                        .is_answer = is_answer,
                        .sender = sender};
  // When they are encoded they are held to the bounds one by one; until then to their sum.
  const auto bound = is_error
                         ? UINT64_MAX
                         : agreed().windows.window + (is_answer ? options_.unread_answer_bytes : options_.queue_bytes);
  auto entry = encoding_.add(message, is_large, bound);
  while (entry == lane::entry::full && !is_answer && options_.when_full == when_full::drop_oldest) {
    auto oldest = encoding_.drop_oldest(receiver);
    if (!oldest)
      break;
    counters_.dropped.fetch_add(1, std::memory_order_relaxed);
    log_drop();
    tell_who_waits(receiver, *oldest->what.element, {node_errc::link_busy, "dropped to make room for newer messages"},
                   context);
    entry = encoding_.add(message, is_large, bound);
  }
  what = std::move(message.what.element); // Null where it was taken.
  switch (entry) {
  case lane::entry::passed:
    return false;
  case lane::entry::full:
    undo(receiver, *what,
         {node_errc::link_busy, grouped(encoding_.bytes()) + " bytes for " + agreed().peer.name
                                    + " wait to be encoded, limit " + grouped(bound)
                                    + (is_answer ? "; ask for less at a time, or raise unread_answer_bytes there"
                                                 : " (window_bytes and queue_bytes); link_ready tells when to go on")},
         context);
    return true;
  case lane::entry::refused:
    undo(receiver, *what, {node_errc::link_down, "the link to " + agreed().peer.name + " is being closed"}, context);
    return true;
  case lane::entry::wakes:
    encode_soon();
    return true;
  case lane::entry::waits:
    break;
  }
  return true;
}

/// Once for each message.
void link_core::encode_soon() {
  node_->encoder().run_soon([weak = weak_from_this()] {
    if (const auto self = weak.lock())
      self->encode_next();
  });
}

/// Encodes and sends one of the messages that wait for it.
void link_core::encode_next() {
  auto next = encoding_.next();
  if (!next)
    return;
  if (is_open())
    send_now(next->receiver, std::move(next->what.element), nullptr, nullptr, next->what.extensions);
  else
    undo(next->receiver, *next->what.element, {node_errc::link_down, "the link to " + agreed().peer.name + " is down"},
         nullptr);
  if (encoding_.done(next->receiver, next->size_bytes, next->is_answer))
    encode_soon();
  auto held = mutex_.lock();
  if (readiness_.anybody_waits(held) && is_open())
    pump(held);
}

/// Whether the next message to that receiver would be sent, or find room to wait in.
bool link_core::has_room_for(const link_held&, std::uint64_t receiver) const {
  return sending_.is_ready(receiver) && !encoding_.has(receiver)
         && encoding_.has_room(agreed().windows.window + options_.queue_bytes);
}

} // namespace troupe::internal
