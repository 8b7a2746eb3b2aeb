// A connected stream socket of any kind, and what the kernel knows of its other end.
#pragma once

#include <expected>
#include <string>

#include <asio/generic/stream_protocol.hpp>

#include <troupe/framework/node_error.hpp>

namespace troupe::internal {

using stream_socket = asio::generic::stream_protocol::socket;

/// Whether the process at the other end of a unix socket runs as the same user; otherwise the reason why not.
[[nodiscard]] std::expected<void, node_error> check_same_user(stream_socket& socket);

/// Who is at the other end, as far as floods are concerned: its IPv4 address, or its IPv6 network of 64 bits, since who
/// has one address of that has them all; empty for a unix socket.
[[nodiscard]] std::string source_of(const stream_socket& socket);
[[nodiscard]] std::string source_of(asio::generic::stream_protocol::endpoint peer);

} // namespace troupe::internal
