// Back-pressure on a link: what it may send, and what this end has consumed.
#include <utility>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/link/link_core.hpp>
#include <troupe/framework/internal/link/link_host.hpp>
#include <troupe/framework/internal/threads/io_timer.hpp>
#include <troupe/framework/node_error.hpp>

namespace troupe::internal {

namespace {

using clock = std::chrono::steady_clock;

} // namespace

bool link_core::refill(const link_held& held, outbox& out) {
  const auto messages_left = !departures_.empty(held);
  if (!chunks_.append_next(held, out))
    return false;
  if (messages_left && farewell_.is_under_way() && departures_.empty(held))
    post_to(seat_.io(), [self = shared_from_this()] { self->farewell_.look(); });
  return true;
}

void link_core::flush_batch() {
  auto held = mutex_.lock();
  const auto over = connection_; // The connection may just be starting.
  held.unlock();
  if (over)
    over->flush_batch();
}

// -- credit

std::expected<void, node_error> link_core::on_credit(const credit& what) {
  auto held = mutex_.lock();
  auto taken = gate_.credit(held, what);
  if (!taken)
    return taken;
  pump_.run(held);
  farewell_.look();
  return taken;
}

/// I/O thread.
void link_core::report_consumed() {
  for (const auto& due : receiving_->take_due())
    admin_.send(admin_op::credit, credit{.actor = due.actor, .bytes = due.bytes, .handle_bytes = due.handle_bytes});
}

/// Any thread. Called when room for answers has become free.
void link_core::pump_soon(const std::weak_ptr<link_core>& of) {
  if (const auto link = of.lock())
    post_to(link->seat_.io(), [of] {
      if (const auto alive = of.lock()) {
        auto held = alive->mutex_.lock();
        alive->pump_.run(held);
      }
    });
}

} // namespace troupe::internal
