// Watches whether a link's peer is alive.
#pragma once

#include <chrono>
#include <memory>
#include <utility>

#include <troupe/framework/internal/flow/heartbeat.hpp>
#include <troupe/framework/internal/flow/peer_delay.hpp>
#include <troupe/framework/internal/link/link_common.hpp>
#include <troupe/framework/internal/net/connection.hpp>
#include <troupe/framework/internal/threads/io_timer.hpp>
#include <troupe/framework/internal/wire/admin.hpp>

namespace troupe::internal {

/// The peer that a peer_watch watches.
class watched_peer {
public:
  virtual ~watched_peer() = default;

  [[nodiscard]] virtual signs_of_life signs() const = 0;
  /// Ends the link for this reason, because the peer is gone.
  virtual void give_up(const node_error& reason) = 0;
};

/// The peer of a connection.
class connected_peer final : public watched_peer {
public:
  explicit connected_peer(std::shared_ptr<connection> over) : over_(std::move(over)) {}

  [[nodiscard]] signs_of_life signs() const override {
    return {over_->bytes_read(), over_->slices_taken(), over_->stalled()};
  }
  void give_up(const node_error& reason) override { over_->close(reason, std::chrono::milliseconds{0}); }

private:
  const std::shared_ptr<connection> over_;
};

/// Periodic work of a link.
class link_chores {
public:
  virtual ~link_chores() = default;

  /// Returns false if the link ends.
  [[nodiscard]] virtual bool run() = 0;
  /// The longest time until the next run.
  [[nodiscard]] virtual std::chrono::milliseconds pause() const noexcept = 0;
};

/// Ends a link whose peer is gone.
///
/// Threads: the I/O thread.
class peer_watch {
public:
  /// `link` and `delay` must outlive this object. The delay is measured at the first look, and whenever the peer is
  /// silent.
  peer_watch(const link_common& link, peer_delay& delay, asio::io_context& io, std::chrono::milliseconds interval,
             std::chrono::milliseconds timeout)
      : link_(link), delay_(delay), io_(io), heartbeat_(interval, timeout) {}

  /// Starts watching the peer, as long as the link is open. `owner` owns this object and `chores`. The chores run
  /// before each look, and may shorten the time to the next one. After a run that ends the link there is no next look.
  void start(std::unique_ptr<watched_peer> peer, link_chores& chores, std::weak_ptr<void> owner);
  /// Stops watching because the link has ended.
  void stop() { timer_.reset(); }

  // -- questions and answers of the peer

  void on_ping(const ping&) { link_.admin.send(admin_op::pong, ping{}); }
  void on_pong(const ping&) { delay_.answer(peer_delay::clock::now()); }

private:
  void look_later();
  [[nodiscard]] bool look();

  const link_common& link_;
  peer_delay& delay_;
  asio::io_context& io_;
  heartbeat heartbeat_;
  std::unique_ptr<watched_peer> peer_;
  link_chores* chores_ = nullptr;
  std::weak_ptr<void> owner_;
  std::unique_ptr<io_timer> timer_; // Its handler does nothing once the timer is gone.
};

} // namespace troupe::internal
