// A connected stream socket of any kind, and what the kernel knows of its other end.
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

/// The same connection on that I/O context; as it is where it is there already. Requires: nothing is under way, and the
/// calling thread runs the context where it was. Fails with `link_down`, for want of memory mostly.
[[nodiscard]] std::expected<stream_socket, node_error> moved_to(asio::io_context& io, stream_socket socket);

/// Whether what the kernel says is this process's own effective user. In a user namespace all users that it does not
/// map look like one (65534 mostly): where that number is not mapped, it is nobody's, this process's neither.
[[nodiscard]] bool is_this_user(uid_t user);

/// The same by what the namespace says: the number that stands for all unmapped users, and /proc/self/uid_map. Pure.
[[nodiscard]] bool is_mapped(uid_t user, uid_t overflow, std::string_view map);

/// Whether the process at the other end of a unix socket runs as the same user; otherwise the reason why not.
[[nodiscard]] std::expected<void, node_error> check_same_user(stream_socket& socket);

/// Where the other end is.
[[nodiscard]] peer_source source_of(const stream_socket& socket);
[[nodiscard]] peer_source source_of(const asio::generic::stream_protocol::endpoint& peer);
/// This end's IP address in numbers; empty for unix sockets.
[[nodiscard]] std::string near_host_of(const stream_socket& socket);

} // namespace troupe::internal
