// Stream sockets by address: listening, dialing, and the transport over a connected one.
#pragma once

#include <chrono>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <asio/generic/stream_protocol.hpp>
#include <asio/io_context.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/steady_timer.hpp>

#include <troupe/framework/internal/transport.hpp>
#include <troupe/framework/node_error.hpp>

namespace troupe::internal {

/// Where a node listens: "unix:///path" (a socket file) or "unix://@name" (a name without a file, gone with its owner).
struct address {
  std::string text;
  asio::local::stream_protocol::endpoint endpoint;
  std::string socket_file; // Empty without a file.
};

/// Fails with `bad_address`, saying what is readable.
[[nodiscard]] std::expected<address, node_error> parse_address(std::string_view text);

using stream_socket = asio::generic::stream_protocol::socket;

/// The transport over `socket`, which must be connected.
[[nodiscard]] std::shared_ptr<transport> make_socket_transport(stream_socket socket);

/// Whether the process at the other end of a unix socket runs as the same user; otherwise the reason why not.
[[nodiscard]] std::expected<void, node_error> check_same_user(stream_socket& socket);

/// Listens and hands over each connection. A socket file is made with mode 0600 and removed at the end.
class listener : public std::enable_shared_from_this<listener> {
public:
  using accepted = std::function<void(stream_socket)>;

  /// Fails with `bad_address`, or with `cannot_connect` when somebody listens there already. A socket file that nobody
  /// listens at any more is replaced.
  static std::expected<std::shared_ptr<listener>, node_error> open(asio::io_context& io, const address& at,
                                                                   accepted on_accept);
  ~listener();

  /// I/O thread only. Idempotent.
  void close();

private:
  listener(asio::io_context& io, address at, accepted on_accept);
  void accept_next();

  address at_;
  accepted on_accept_;
  asio::local::stream_protocol::acceptor acceptor_;
  asio::steady_timer pause_;
  bool owns_file_ = false;
};

/// Connects within the time given. Blocks the caller, who must not be the I/O thread.
[[nodiscard]] std::expected<stream_socket, node_error> dial(asio::io_context& io, const address& to,
                                                            std::chrono::milliseconds timeout);

} // namespace troupe::internal
