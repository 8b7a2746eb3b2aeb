// An actor of the peer's that has sent something a moment ago.
#pragma once

#include <chrono>
#include <memory>

#include <troupe/framework/internal/caf_port/actor_pointers.hpp>
#include <troupe/framework/internal/threads/io_timer.hpp>

namespace troupe::internal {

/// Keeps the actor that has sent the last messages. Otherwise a peer's actor that asks again and again, and waits for
/// each answer, would be received anew and released again for every question.
///
/// Threads: the I/O thread.
class recent_sender {
public:
  /// An actor that sends nothing is let go of after this time, or twice as much.
  static constexpr std::chrono::milliseconds patience{50};

  explicit recent_sender(asio::io_context& io) : io_(io) {}

  /// Keeps this one in place of the one before. Null, and actors of this node, change nothing.
  void keep(const caf::strong_actor_ptr& sender) {
    if (sender == kept_)
      is_used_ = true;
    else if (sender)
      replace(sender);
  }
  /// The link has ended.
  void end();

private:
  void replace(const caf::strong_actor_ptr& sender);
  void look_later();

  asio::io_context& io_;
  caf::strong_actor_ptr kept_;
  bool is_used_ = false;            // Since the last look.
  std::shared_ptr<io_timer> timer_; // Null while nothing is kept. Its handler does nothing once this is gone.
};

} // namespace troupe::internal
