// Connecting to somebody who listens.
#pragma once

#include <chrono>
#include <expected>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include <troupe/framework/internal/net/address.hpp>
#include <troupe/framework/internal/net/stream_socket.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

using deadline = std::chrono::steady_clock::time_point;

/// What is left until then, at least zero.
[[nodiscard]] std::chrono::milliseconds time_until(deadline then);

/// Connects to the first of `endpoints` that accepts. Fails with `cannot_connect` or `timed_out`. Blocks the caller,
/// who must not be the I/O thread.
[[nodiscard]] std::expected<stream_socket, node_error> dial(asio::io_context& io, const std::string& text,
                                                            std::span<const stream_endpoint> endpoints, deadline until);

/// The same without blocking anybody.
///
/// Threads: I/O thread only.
/// Lifetime: must be held until it calls; dropping it, as `cancel`, ends it without a call.
class dialing : public std::enable_shared_from_this<dialing> {
public:
  using result = std::expected<stream_socket, node_error>;

  /// Calls `done` once, never before this has returned.
  [[nodiscard]] static std::shared_ptr<dialing> start(asio::io_context& io, std::string text,
                                                      std::vector<stream_endpoint> endpoints, deadline until,
                                                      std::function<void(result)> done);
  void cancel();

private:
  dialing(asio::io_context& io, std::string text, std::vector<stream_endpoint> endpoints, deadline until,
          std::function<void(result)> done);

  void try_next();
  void wait_for(const stream_endpoint& to);
  void on_writable();
  void on_connected();
  void give_up(std::error_code reason);

  asio::io_context& io_;
  const std::string text_;
  const std::vector<stream_endpoint> endpoints_;
  const deadline until_;
  std::function<void(result)> done_; // Null once it was called or cancelled.
  std::size_t next_ = 0;
  std::error_code last_error_;
  stream_socket socket_{io_};
  asio::steady_timer limit_{io_};
  asio::steady_timer again_{io_};
};

} // namespace troupe::internal
