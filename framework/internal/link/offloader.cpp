#include <troupe/framework/internal/caf_port/messages.hpp>
#include <troupe/framework/internal/link/offloader.hpp>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/caf_port/asker.hpp>
#include <troupe/framework/internal/caf_port/caf_threads.hpp>

namespace troupe::internal {

bool offloader::take(std::uint64_t receiver, caf::mailbox_element_ptr& what, caf::execution_unit* context,
                     bytes_view extensions) {
  if (may_block()) // A thread of the user's own, which waits for room if need be.
    return false;
  thread_local known_types known;
  const auto enough = of_.enough_bytes.load(std::memory_order_relaxed);
  const auto bytes = weigh(of_.types, known, std::as_const(*what).content(), enough);
  const auto is_large = enough > 0 && bytes >= enough;
  if (!is_large && of_.waiting.is_idle())
    return false;
  constexpr std::uint64_t least_bytes = 128;
  const auto is_answer = what->mid.is_response();
  // An actor that waits for an answer that failed gets the error in any case.
  const auto is_error = is_answer && std::as_const(*what).content().match_elements<caf::error>();
  const auto* sender = itself(what->sender).get();
  offloaded_message message{.receiver = receiver,
                            .what = {.element = std::move(what),
                                     .proxy = of_.actors.proxy_of(receiver),
                                     .extensions = {extensions.begin(), extensions.end()}},
                            .size_bytes = std::max(bytes, least_bytes),
                            .is_answer = is_answer,
                            .sender = sender};
  const auto bound = is_error ? UINT64_MAX : bound_of(is_answer);
  auto entry = of_.waiting.add(message, is_large, bound);
  while (entry == encoding_lane<unencoded_message>::entry::full && !is_answer
         && of_.options.when_full == when_full::drop_oldest) {
    auto oldest = of_.waiting.drop_oldest(receiver);
    if (!oldest)
      break;
    target_.drop(*std::move(oldest), context);
    entry = of_.waiting.add(message, is_large, bound);
  }
  switch (entry) {
  case encoding_lane<unencoded_message>::entry::passed:
    what = std::move(message.what.element);
    return false;
  case encoding_lane<unencoded_message>::entry::full:
    target_.fail(
        std::move(message),
        {node_errc::link_busy, grouped(of_.waiting.bytes()) + " bytes for " + of_.link.peer_name()
                                   + " wait to be encoded, limit " + grouped(bound)
                                   + (is_answer ? "; ask for less at a time, or raise unread_answer_bytes there"
                                                : " (window_bytes and queue_bytes); link_ready tells when to go on")},
        context);
    return true;
  case encoding_lane<unencoded_message>::entry::refused:
    target_.fail(std::move(message), {node_errc::link_down, "the link to " + of_.link.peer_name() + " is being closed"},
                 context);
    return true;
  case encoding_lane<unencoded_message>::entry::wakes:
    encode_soon();
    return true;
  case encoding_lane<unencoded_message>::entry::waits:
    break;
  }
  return true;
}

/// When they are encoded they are held to the bounds one by one; until then to their sum.
std::uint64_t offloader::bound_of(bool is_answer) const {
  return of_.link.agreed().windows.window + (is_answer ? of_.options.unread_answer_bytes : of_.options.queue_bytes);
}

/// Once for each message.
void offloader::encode_soon() {
  of_.encoder.run_soon([this, weak = link_] {
    if (const auto link = weak.lock()) // Which has this.
      encode_next();
  });
}

/// Encodes and sends one of the messages that wait for it.
void offloader::encode_next() {
  auto next = of_.waiting.next();
  if (!next)
    return;
  const auto [receiver, size_bytes, is_answer] = std::tuple{next->receiver, next->size_bytes, next->is_answer};
  const auto proxy = next->what.proxy; // Until it counts as done.
  if (of_.link.is_open())
    target_.send_now(*std::move(next));
  else
    target_.fail(*std::move(next), of_.link.down(), nullptr);
  if (of_.waiting.done(receiver, size_bytes, is_answer))
    encode_soon();
  auto held = of_.link.mutex.lock();
  if (of_.gate.anybody_is_to_be_told(held) && of_.link.is_open())
    of_.pump.run(held);
}

void offloader::end() {
  for (auto& each : of_.waiting.take_all())
    target_.fail(std::move(each), of_.link.down(), nullptr);
}

} // namespace troupe::internal
