// The actor of the peer that has sent the last messages.
#pragma once

#include <chrono>
#include <memory>

#include <troupe/framework/internal/caf_port/actor_pointers.hpp>
#include <troupe/framework/internal/threads/io_timer.hpp>

namespace troupe::internal {

/// Keeps the actor that has sent the last messages. An actor of the peer may ask again and again, and wait for each
/// answer. Otherwise it would be imported and released for every question.
///
/// Threads: the I/O thread.
class recent_sender {
public:
  /// An actor that sends nothing is released after this time, at the latest after twice this time.
  static constexpr std::chrono::milliseconds patience{50};

  explicit recent_sender(asio::io_context& io) : io_(io) {}

  /// Keeps this actor instead of the previous one. Null and actors of this node change nothing.
  void keep(const caf::strong_actor_ptr& sender) {
    if (sender == kept_)
      is_used_ = true;
    else if (sender)
      replace(sender);
  }
  /// Releases the actor because the link has ended.
  void end();

private:
  void replace(const caf::strong_actor_ptr& sender);
  void look_later();

  asio::io_context& io_;
  caf::strong_actor_ptr kept_;
  bool is_used_ = false;            // It has sent something since the last look.
  std::shared_ptr<io_timer> timer_; // Null while nothing is kept. Its handler does nothing once the timer is gone.
};

} // namespace troupe::internal
