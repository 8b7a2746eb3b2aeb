// Connecting to a listener.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include <troupe/framework/internal/net/address.hpp>
#include <troupe/framework/internal/net/stream_socket.hpp>
#include <troupe/framework/internal/threads/io_timer.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

using dial_deadline = std::chrono::steady_clock::time_point;

/// The time left until the deadline, at least zero.
[[nodiscard]] std::chrono::milliseconds time_until(dial_deadline then);

/// The result of connect(2) on a socket that does not block.
enum class connect_step : std::uint8_t { connected, under_way, listener_is_full, failed };

/// `error` is zero for success. `family` is the socket's. EAGAIN means a full queue only if the listener is a unix
/// socket, and nothing notifies the dialer when the queue has room again. For other sockets EAGAIN means that the
/// system has no room for the connection.
[[nodiscard]] connect_step step_of(int error, int family);

/// Connects to the first of several endpoints that accepts.
///
/// Threads: I/O thread only.
/// Lifetime: hold it until it calls back. Dropping it ends it without a call, as `cancel` does.
class dialing : public std::enable_shared_from_this<dialing> {
public:
  using result = std::expected<stream_socket, node_error>;

  /// Calls `done` once, after start() has returned. Fails with `cannot_connect` or `timed_out`.
  [[nodiscard]] static std::shared_ptr<dialing> start(asio::io_context& io, std::string text,
                                                      std::vector<stream_endpoint> endpoints, dial_deadline until,
                                                      std::function<void(result)> done);
  void cancel();

private:
  dialing(asio::io_context& io, std::string text, std::vector<stream_endpoint> endpoints,
          std::function<void(result)> done);

  void try_next();
  void await_connection();
  void try_again_later();
  void on_writable();
  void on_connected();
  void give_up(std::error_code reason);

  asio::io_context& io_;
  const std::string text_;
  const std::vector<stream_endpoint> endpoints_;
  std::function<void(result)> done_; // Null once called or cancelled.
  std::size_t next_ = 0;
  std::error_code last_error_;
  stream_socket socket_{io_};
  io_timer limit_{io_};
  io_timer again_{io_};
  std::chrono::milliseconds pause_{1}; // Before the next attempt at a listener whose queue is full.
};

} // namespace troupe::internal
