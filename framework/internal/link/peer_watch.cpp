#include <troupe/framework/internal/link/peer_watch.hpp>

#include <algorithm>

#include <troupe/framework/internal/threads/io_timer.hpp>

namespace troupe::internal {

void peer_watch::start(std::unique_ptr<watched_peer> peer, link_chores& chores, std::weak_ptr<void> owner) {
  peer_ = std::move(peer);
  chores_ = &chores;
  owner_ = std::move(owner);
  heartbeat_.begin(peer_->signs(), heartbeat::clock::now());
  timer_ = std::make_unique<io_timer>(io_);
  look_later();
}

void peer_watch::look_later() {
  timer_->expires_after(std::min(heartbeat_.pause(), chores_->pause()));
  timer_->async_wait([this, weak = owner_](std::error_code cancelled) {
    const auto alive = weak.lock();
    if (!cancelled && alive && link_.is_open() && look())
      look_later();
  });
}

/// Returns false if the link ends.
bool peer_watch::look() {
  if (!chores_->run())
    return false;
  const auto now = heartbeat::clock::now();
  const auto asks = heartbeat_.beat(peer_->signs(), now);
  if (!asks) {
    peer_->give_up(asks.error());
    return false;
  }
  if (*asks || delay_.is_due(now, heartbeat_.pause())) {
    delay_.ask(now);
    link_.admin.send(admin_op::ping, ping{});
  }
  return true;
}

} // namespace troupe::internal
