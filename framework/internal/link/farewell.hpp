// How this end closes a link.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include <troupe/framework/internal/threads/io_timer.hpp>

namespace troupe::internal {

/// Lets what waits leave before the goodbye is said.
///
/// Threads: the I/O thread.
//  await_encoding() --(nobody encodes any more: begin())--> begin() --(nothing waits, or patience is over)--> said
class farewell {
public:
  using clock = std::chrono::steady_clock;

  /// `waits`: whether anything has to leave first. `say` is called once, with the reason and what is left of patience.
  farewell(asio::io_context& io, std::function<bool()> waits,
           std::function<void(const std::string& reason, std::chrono::milliseconds left)> say);

  /// Large messages may be encoded until then; then `give_up` is called, unless begin() or cancel() comes before.
  void await_encoding(clock::time_point until, std::function<void()> give_up);

  /// The goodbye is said as soon as nothing waits, and after `patience` at the latest.
  void begin(std::string reason, std::chrono::milliseconds patience);
  [[nodiscard]] bool is_under_way() const noexcept { return is_under_way_; }

  /// Something has left.
  void look();

  /// The link has ended.
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
  std::shared_ptr<io_timer> timer_; // Its handler does nothing once this is gone.
};

} // namespace troupe::internal
