// How this end closes a link.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include <troupe/framework/internal/threads/io_timer.hpp>

namespace troupe::internal {

/// Lets waiting messages leave before this end says goodbye.
///
/// Threads: the I/O thread.
//  await_encoding() --(nobody encodes any more: begin())--> begin() --(nothing waits, or patience is over)--> said
class farewell {
public:
  using clock = std::chrono::steady_clock;

  /// `waits` returns true while anything has to leave first. `say` is called once, with the reason and the time left.
  farewell(asio::io_context& io, std::function<bool()> waits,
           std::function<void(const std::string& reason, std::chrono::milliseconds left)> say);

  /// Waits until large messages are encoded. Calls `give_up` at `until`, unless begin() or cancel() is called before.
  void await_encoding(clock::time_point until, std::function<void()> give_up);

  /// Says goodbye as soon as nothing waits, after `patience` at the latest.
  void begin(std::string reason, std::chrono::milliseconds patience);
  [[nodiscard]] bool is_under_way() const noexcept { return is_under_way_; }

  /// To be called when something has left. Says goodbye if nothing waits any more.
  void look();

  /// Stops waiting because the link has ended.
  void cancel();

private:
  void wait(clock::time_point until, std::function<void()> then);
  void end();

  asio::io_context& io_;
  const std::function<bool()> waits_;
  const std::function<void(const std::string&, std::chrono::milliseconds)> say_;
  std::string reason_;
  clock::time_point until_;
  bool is_under_way_ = false;
  std::shared_ptr<io_timer> timer_; // The handler does nothing once the timer is gone.
};

} // namespace troupe::internal
