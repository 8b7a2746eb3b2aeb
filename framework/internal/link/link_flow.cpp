// Back-pressure on a link: what may be sent, what has been consumed, and whether the peer is alive at all.
#include <utility>

#include <asio/post.hpp>
#include <asio/steady_timer.hpp>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/link/link_core.hpp>
#include <troupe/framework/internal/link/link_host.hpp>
#include <troupe/framework/node_error.hpp>

namespace troupe::internal {

namespace {

using clock = std::chrono::steady_clock;

} // namespace

/// I/O thread. Whether the link ends for what the peer asks and does not read.
bool link_core::ends_for_unread() {
  const auto why = gate_.excess_of_unread();
  if (why)
    connection_->close(*why, std::chrono::milliseconds{0});
  return why.has_value();
}

/// Chunks of messages and of objects that the peer has asked for take turns.
bool link_core::refill(const link_held& held, outbox& out) {
  piece_is_next_ = !piece_is_next_;
  if ((piece_is_next_ || departures_.empty(held)) && append_piece(held, out))
    return true;
  if (!departures_.append_next(held, out))
    return false;
  if (farewell_.is_under_way() && departures_.empty(held))
    asio::post(node_->io(), [self = shared_from_this()] { self->farewell_.look(); });
  return true;
}

void link_core::flush_batch() {
  if (connection_)
    connection_->flush_batch();
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

/// From any thread. Room for answers has come free.
void link_core::pump_soon(const std::weak_ptr<link_core>& of) {
  if (const auto link = of.lock())
    asio::post(link->node_->io(), [of] {
      if (const auto alive = of.lock()) {
        auto held = alive->mutex_.lock();
        alive->pump_.run(held);
      }
    });
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
    gate_.reclaim(held);
    pump_.run_if_anybody_waits(held);
  }
  if (ends_for_unread())
    return false;
  gate_.give_up_old_requests();
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
