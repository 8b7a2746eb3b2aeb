// Listening at an address.
#pragma once

#include <chrono>
#include <expected>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <asio/basic_socket_acceptor.hpp>

#include <troupe/framework/internal/net/address.hpp>
#include <troupe/framework/internal/net/socket_file.hpp>
#include <troupe/framework/internal/net/stream_socket.hpp>
#include <troupe/framework/internal/threads/io_timer.hpp>
#include <troupe/framework/internal/words/refusal_log.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// Listens and hands over each connection. A socket file is made with mode 0600. It is removed at the end, unless
/// another node has replaced it.
///
/// If the process has no file descriptor left, the listener asks its owner to close a connection in favor of the new
/// one. If the owner has none to close, the listener briefly releases a spare descriptor, to accept and immediately
/// close waiting connections. So their peers learn it instead of waiting. Then the listener pauses before it continues.
/// close waiting connections, so that their peers learn it instead of waiting; it then pauses before it goes on.
class listener : public std::enable_shared_from_this<listener> {
public:
  /// Receives each connection, and the log for its refusal.
  using accepted = std::function<void(stream_socket, const std::shared_ptr<refusal_log>&)>;

  /// Closes an expendable connection, at once or soon. Returns false if there is none.
  using make_room = std::function<bool()>;

  /// Whether a connection may be accepted now. Otherwise connections wait in the system's queue.
  using may_come = std::function<bool()>;

  /// Fails with `bad_address`, or with `cannot_connect` if the address is in use. Replaces a socket file that has no
  /// listener.
  static std::expected<std::shared_ptr<listener>, node_error> open(asio::io_context& io, const address& at,
                                                                   const stream_endpoint& endpoint, accepted on_accept,
                                                                   make_room on_exhausted, may_come has_room = {});
  ~listener();

  /// The address as given, with the port that the system chose if that was 0.
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

  /// Requires: an IP address, and not closed.
  [[nodiscard]] std::uint16_t port() const;

  /// I/O thread only. Idempotent.
  void close();

private:
  listener(asio::io_context& io, const address& at, accepted on_accept, make_room on_exhausted, may_come has_room);
  std::error_code make_socket(const stream_endpoint& endpoint);
  std::error_code bind(const address& at, const stream_endpoint& endpoint);
  void accept_next();
  void accept_after(std::chrono::milliseconds pause);
  std::error_code accept_one();
  void turn_away();

  std::string text_;
  accepted on_accept_;
  make_room on_exhausted_;
  may_come has_room_;                     // Null: always.
  std::shared_ptr<refusal_log> refusals_; // Set by open().
  asio::basic_socket_acceptor<asio::generic::stream_protocol> acceptor_;
  socket_file socket_file_; // Ends before acceptor_.
  asio::generic::stream_protocol protocol_{0, 0};
  io_timer pause_;
  int spare_ = -1; // Open on /dev/null.
};

/// Opens one listener of an address.
using listener_maker =
    std::function<std::expected<std::shared_ptr<listener>, node_error>(const address&, const stream_endpoint&)>;

/// Listens at all addresses of a name, on one port, so that no other process can take the rest. For port 0 the system
/// chooses a port that is free at all of them. An address that this host does not have is skipped with a warning,
/// unless it is the only one. An address in use is an error, because peers that dial the name could reach its owner.
[[nodiscard]] std::expected<std::vector<std::shared_ptr<listener>>, node_error>
listen_at_all(const address& at, std::span<const stream_endpoint> endpoints, const listener_maker& open);

} // namespace troupe::internal
