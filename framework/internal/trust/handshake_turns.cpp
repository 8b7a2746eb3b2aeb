#include <troupe/framework/internal/trust/handshake_turns.hpp>

#include <system_error>

namespace troupe::internal {

void handshake_turns::enter(std::weak_ptr<handshake_candidate> candidate, const peer_source& source) {
  order_.enter(std::move(candidate), source);
  if (!is_waiting_)
    go_on();
}

void handshake_turns::go_on() {
  const auto is_there = [](const std::weak_ptr<handshake_candidate>& one) { return !one.expired(); };
  while (auto next = order_.next(rate_limit::clock::now(), is_there))
    if (const auto candidate = next->lock())
      candidate->begin_handshake();
  is_waiting_ = !order_.is_empty();
  if (!is_waiting_)
    return;
  constexpr std::chrono::milliseconds pause{5};
  timer_.expires_after(pause);
  timer_.async_wait([weak = weak_from_this()](std::error_code cancelled) {
    if (const auto self = weak.lock(); self && !cancelled)
      self->go_on();
  });
}

} // namespace troupe::internal
