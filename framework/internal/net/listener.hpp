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

/// Listens and hands over each connection. A socket file is made with mode 0600 and removed at the end, unless another
/// node has replaced it.
///
/// When the process has no file descriptor left, the owner is asked to give up a connection for the one that comes.
/// Where it has none to give, a spare descriptor is given up for a moment to accept who waits and to close the
/// connection at once, so that the peer is told instead of waiting; the listener goes on after a pause.
class listener : public std::enable_shared_from_this<listener> {
public:
  /// Is given each connection, and where to note that it was refused.
  using accepted = std::function<void(stream_socket, const std::shared_ptr<refusal_log>&)>;

  /// Closes a connection that can be missed, at once or soon; false where there is none.
  using make_room = std::function<bool()>;

  /// Whether a connection may come now; else those that come wait in the system's queue.
  using may_come = std::function<bool()>;

  /// Fails with `bad_address`, or with `cannot_connect` when somebody listens there already. A socket file that nobody
  /// listens at any more is replaced.
  static std::expected<std::shared_ptr<listener>, node_error> open(asio::io_context& io, const address& at,
                                                                   const stream_endpoint& endpoint, accepted on_accept,
                                                                   make_room on_exhausted, may_come has_room = {});
  ~listener();

  /// The address as it was given, with the port that the system chose where that was 0.
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

  /// Of an IP address. Requires: not closed.
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
  int spare_ = -1; // A descriptor of nothing.
};

/// Opens one listener of an address.
using listener_maker =
    std::function<std::expected<std::shared_ptr<listener>, node_error>(const address&, const stream_endpoint&)>;

/// Listens at all that a name stands for, at one port, so that nobody else can take the part that is left. Of port 0
/// the system chooses one that is free at all of them. An address that this host does not have is passed over with a
/// warning, unless it is the only one; one that somebody else has is an error: those who dial the name could come to
/// him.
[[nodiscard]] std::expected<std::vector<std::shared_ptr<listener>>, node_error>
listen_at_all(const address& at, std::span<const stream_endpoint> endpoints, const listener_maker& open);

} // namespace troupe::internal
