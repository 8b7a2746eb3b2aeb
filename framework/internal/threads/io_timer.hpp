// Timers of an I/O context, without what Asio's headers cost to compile.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <system_error>

namespace asio {
class io_context;
}

namespace troupe::internal {

/// Calls back on the threads that run an I/O context, when a time has come.
///
/// Threads: one at a time. Lifetime: the end of the timer cancels it; a callback that is due already may still come.
class io_timer {
public:
  using clock = std::chrono::steady_clock;
  /// The error says that the timer was cancelled, or set to another time.
  using callback = std::move_only_function<void(std::error_code cancelled)>;

  explicit io_timer(asio::io_context& io);
  io_timer(asio::io_context& io, clock::time_point at);
  io_timer(asio::io_context& io, clock::duration after);
  io_timer(const io_timer&) = delete;
  io_timer& operator=(const io_timer&) = delete;
  ~io_timer();

  /// Both cancel what waits.
  void expires_at(clock::time_point at);
  void expires_after(clock::duration after);
  void cancel();
  /// Calls back once.
  void async_wait(callback then);

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

/// Calls back on the threads that run the I/O context, as soon as they come to it.
void post_to(asio::io_context& io, std::move_only_function<void()> what);

/// The same, but at once where a handler of that I/O context calls this.
void run_on(asio::io_context& io, std::move_only_function<void()> what);

} // namespace troupe::internal
