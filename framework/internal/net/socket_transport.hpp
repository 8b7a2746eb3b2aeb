// The transport over a connected TCP socket, and helpers for all transports over sockets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <system_error>

#include <sys/socket.h>

#include <troupe/framework/internal/net/stream_socket.hpp>
#include <troupe/framework/internal/net/transport.hpp>

namespace troupe::internal {

/// Sets a link's socket options, so that the kernel sends without delay and keeps little unsent data.
void tune(stream_socket& socket);

/// Writes at most the first `bytes_max` bytes of `pieces`, as far as the kernel takes them, and returns their number.
/// Over unix sockets, a `descriptor` other than -1 travels with the first byte.
[[nodiscard]] std::expected<std::size_t, std::error_code>
send_now(int socket, std::span<const bytes_view> pieces, std::size_t bytes_max = SIZE_MAX, int descriptor = -1);

/// Whether a call failed only because it would block now.
[[nodiscard]] bool would_block(int error) noexcept;

/// Room for one descriptor beside the bytes of a message.
union descriptor_room {
  cmsghdr head;
  std::array<std::byte, CMSG_SPACE(sizeof(int))> bytes{};
};

/// Makes the transport over `socket`. Requires: connected.
[[nodiscard]] std::shared_ptr<transport> make_socket_transport(stream_socket socket);

} // namespace troupe::internal
