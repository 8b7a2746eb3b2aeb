// Looks at the life of a link's peer.
#pragma once

#include <chrono>
#include <memory>
#include <utility>

#include <troupe/framework/internal/flow/heartbeat.hpp>
#include <troupe/framework/internal/link/link_common.hpp>
#include <troupe/framework/internal/net/connection.hpp>
#include <troupe/framework/internal/threads/io_timer.hpp>
#include <troupe/framework/internal/wire/admin.hpp>

namespace troupe::internal {

/// What is looked at.
class watched_peer {
public:
  virtual ~watched_peer() = default;

  [[nodiscard]] virtual signs_of_life signs() const = 0;
  /// It is gone: the link ends for this reason.
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

/// What is due on a link from time to time.
class link_chores {
public:
  virtual ~link_chores() = default;

  /// False when the link ends.
  [[nodiscard]] virtual bool run() = 0;
  /// When it is due again, at the latest.
  [[nodiscard]] virtual std::chrono::milliseconds pause() const noexcept = 0;
};

/// Ends a link whose peer is gone.
///
/// Threads: the I/O thread.
class peer_watch {
public:
  peer_watch(const link_common& link, asio::io_context& io, std::chrono::milliseconds interval,
             std::chrono::milliseconds timeout)
      : link_(link), io_(io), heartbeat_(interval, timeout) {}

  /// Looks at the peer from now on, as long as the link is open. `owner` has this and `chores`, which run before
  /// each look, and say how soon the next one is due; nobody looks again where they end the link.
  void start(std::unique_ptr<watched_peer> peer, link_chores& chores, std::weak_ptr<void> owner);
  /// The link has ended.
  void stop() { timer_.reset(); }

  // -- what the peer asks and answers

  void on_ping(const ping&) { link_.admin.send(admin_op::pong, ping{}); }
  void on_pong(const ping&) {} // It was heard.

private:
  void look_later();
  [[nodiscard]] bool look();

  const link_common& link_;
  asio::io_context& io_;
  heartbeat heartbeat_;
  std::unique_ptr<watched_peer> peer_;
  link_chores* chores_ = nullptr;
  std::weak_ptr<void> owner_;
  std::unique_ptr<io_timer> timer_; // Its handler does nothing once this is gone.
};

} // namespace troupe::internal
