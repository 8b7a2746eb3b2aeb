// A connected stream socket of any kind, and what the kernel knows of its other end.
#pragma once

#include <expected>
#include <string>

#include <asio/generic/stream_protocol.hpp>

#include <troupe/framework/internal/waiting_room.hpp>
#include <troupe/framework/node_error.hpp>

namespace troupe::internal {

using stream_socket = asio::generic::stream_protocol::socket;

/// Whether the process at the other end of a unix socket runs as the same user; otherwise the reason why not.
[[nodiscard]] std::expected<void, node_error> check_same_user(stream_socket& socket);

/// Where the other end is.
[[nodiscard]] peer_source source_of(const stream_socket& socket);
[[nodiscard]] peer_source source_of(const asio::generic::stream_protocol::endpoint& peer);

} // namespace troupe::internal
