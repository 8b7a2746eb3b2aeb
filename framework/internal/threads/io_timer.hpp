// Timers of an I/O context, without the compile time of Asio's headers.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <system_error>

namespace asio {
class io_context;
}

namespace troupe::internal {

/// Calls back on the threads that run an I/O context, at a given time.
///
/// Threads: one at a time. Lifetime: the destructor cancels the timer. A callback that is already due may still come.
class io_timer {
public:
  using clock = std::chrono::steady_clock;
  /// The error is set if the timer was cancelled or set to another time.
  using callback = std::move_only_function<void(std::error_code cancelled)>;

  explicit io_timer(asio::io_context& io);
  io_timer(asio::io_context& io, clock::time_point at);
  io_timer(asio::io_context& io, clock::duration after);
  io_timer(const io_timer&) = delete;
  io_timer& operator=(const io_timer&) = delete;
  ~io_timer();

  /// Both cancel a pending wait.
  void expires_at(clock::time_point at);
  void expires_after(clock::duration after);
  void cancel();
  /// Calls back once.
  void async_wait(callback then);

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

/// Calls back later, on a thread that runs the I/O context.
void post_to(asio::io_context& io, std::move_only_function<void()> what);

/// Like post_to(), but calls back at once if the caller is a handler of that I/O context.
void run_on(asio::io_context& io, std::move_only_function<void()> what);

} // namespace troupe::internal
