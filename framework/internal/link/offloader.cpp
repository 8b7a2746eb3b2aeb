#include <troupe/framework/internal/link/offloader.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/caf_port/asker.hpp>
#include <troupe/framework/internal/caf_port/message_view.hpp>

namespace troupe::internal {

offload_verdict offloader::take(std::uint64_t receiver, caf::mailbox_element_ptr& what, receipt* owed,
                                bytes_view extensions) {
  using lane = encoding_lane<unencoded_message>;
  offload_verdict verdict;
  if (takes_nothing())
    return verdict;
  thread_local known_types known;
  const auto enough = of_.enough_bytes.load(std::memory_order_relaxed);
  const auto bytes = weigh(of_.types, known, message_view{*what}, enough);
  const auto is_large = enough > 0 && bytes >= enough;
  if (!is_large && of_.waiting.is_idle())
    return verdict;
  constexpr std::uint64_t least_bytes = 128;
  const auto is_answer = what->mid.is_response();
  // The requester must learn of a failed answer in any case.
  const auto is_error = is_answer && message_view{*what}.kind() == message_kind::error;
  const auto* sender = itself(what->sender).get();
  offloaded_message message{.receiver = receiver,
                            .what = {.element = std::move(what),
                                     .proxy = of_.actors.proxy_of(receiver),
                                     .extensions = {extensions.begin(), extensions.end()}},
                            .size_bytes = std::max(bytes, least_bytes),
                            .is_answer = is_answer,
                            .may_be_dropped = owed == nullptr,
                            .sender = sender};
  if (owed != nullptr)
    message.what.owed = std::move(*owed);
  // A message from another link is bounded there.
  const auto bound = is_error || owed != nullptr ? UINT64_MAX : bound_of(is_answer);
  auto entry = of_.waiting.add(message, is_large, bound);
  while (entry == lane::entry::full && !is_answer && of_.options.when_full == when_full::drop_oldest) {
    auto oldest = of_.waiting.drop_oldest(receiver);
    if (!oldest)
      break;
    verdict.dropped.push_back(*std::move(oldest));
    entry = of_.waiting.add(message, is_large, bound);
  }
  switch (entry) {
  case lane::entry::passed:
    break;
  case lane::entry::full:
    verdict.reason.emplace(node_errc::link_busy,
                           grouped(of_.waiting.bytes()) + " bytes for " + of_.link.peer_name()
                               + " wait to be encoded, limit " + grouped(bound)
                               + (is_answer ? "; ask for less at a time, or raise unread_answer_bytes there"
                                            : " (window_bytes and queue_bytes); send again after link_ready"));
    break;
  case lane::entry::refused:
    verdict.reason.emplace(node_errc::link_down, "the link to " + of_.link.peer_name() + " is being closed");
    break;
  case lane::entry::wakes:
  case lane::entry::waits:
    verdict.what = offload_verdict::kind::kept;
    verdict.wakes_encoder = entry == lane::entry::wakes;
    return verdict;
  }
  if (verdict.reason)
    verdict.what = offload_verdict::kind::refused;
  what = std::move(message.what.element);
  if (owed != nullptr)
    *owed = std::move(*message.what.owed);
  return verdict;
}

/// Encoded messages are held to the bounds one by one. Until then, their sum is held to the bounds.
std::uint64_t offloader::bound_of(bool is_answer) const {
  return of_.link.agreed().windows.window + (is_answer ? of_.options.unread_answer_bytes : of_.options.queue_bytes);
}

/// Callers that wait for room may continue.
bool offloader::done(std::uint64_t receiver, std::uint64_t size_bytes, bool is_answer) {
  const auto comes_again = of_.waiting.done(receiver, size_bytes, is_answer);
  auto held = of_.link.mutex.lock();
  if (of_.gate.anybody_is_to_be_told(held) && of_.link.is_open())
    of_.pump.run(held);
  return comes_again;
}

} // namespace troupe::internal
