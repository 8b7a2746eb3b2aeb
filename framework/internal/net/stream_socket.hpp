// A connected stream socket of any kind, and what the kernel knows about its other end.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include <sys/types.h>

#include <asio/generic/stream_protocol.hpp>
#include <asio/io_context.hpp>

#include <troupe/framework/internal/trust/waiting_room.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

using stream_socket = asio::generic::stream_protocol::socket;

/// Moves the connection to that I/O context. Does nothing if the connection is already there. Requires: no operation is
/// in progress, and the calling thread runs the old context. Fails with `link_down`, usually for lack of memory.
[[nodiscard]] std::expected<stream_socket, node_error> moved_to(asio::io_context& io, stream_socket socket);

/// Whether a user id from the kernel is this process's own effective user. In a user namespace all unmapped users have
/// one common id (usually 65534). If that id is not mapped itself, it belongs to no user, not even to this process's.
[[nodiscard]] bool is_this_user(uid_t user);

/// Like is_this_user(), from the id of unmapped users and the text of /proc/self/uid_map. Pure.
[[nodiscard]] bool is_mapped(uid_t user, uid_t overflow, std::string_view map);

/// Checks that the process at the other end of a unix socket runs as the same user. Fails with `refused` and the
/// reason.
[[nodiscard]] std::expected<void, node_error> check_same_user(stream_socket& socket);

/// The source of the other end, by its network.
[[nodiscard]] peer_source source_of(const stream_socket& socket);
[[nodiscard]] peer_source source_of(const asio::generic::stream_protocol::endpoint& peer);
/// This end's numeric IP address; empty for unix sockets.
[[nodiscard]] std::string near_host_of(const stream_socket& socket);

} // namespace troupe::internal
