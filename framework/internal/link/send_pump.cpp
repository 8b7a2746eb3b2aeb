#include <troupe/framework/internal/link/send_pump.hpp>

#include <utility>

namespace troupe::internal {

void send_pump::run(link_held& held) {
  gate_.note_consumed_answers(held);
  // Messages leave even while the link closes, until the goodbye.
  if (auto* out = to_ != nullptr ? to_->open_outbox(held) : nullptr) {
    while (auto message = gate_.next(held)) {
      gate_.expect_answer(held, message->claims.question(), message->receiver);
      message->claims.excuse_asker();
      if (leaving_.leave(held, *std::move(message), *out))
        to_->write_refills(held);
    }
  }
  const auto told = gate_.take_ready(held);
  gate_.want_answers_if_any_wait(held);
  gate_.wake(held);
  if (to_ != nullptr)
    to_->flush(held);
  else
    held.unlock();
  for (const auto& each : told)
    each.tell();
}

void send_pump::run_if_anybody_waits(link_held& held) {
  if (gate_.anybody_waits(held))
    run(held);
  else
    held.unlock();
}

} // namespace troupe::internal
