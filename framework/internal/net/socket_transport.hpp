// The transport over a connected TCP socket, and what transports over sockets have in common.
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

/// Sets what a link wants of its socket: nothing held back, little piled up in the kernel.
void tune(stream_socket& socket);

/// Writes the first `bytes_max` bytes of `pieces` as far as the kernel takes them, and gives how many that was. A
/// descriptor that is not -1 goes with the first of them, over unix sockets.
[[nodiscard]] std::expected<std::size_t, std::error_code>
send_now(int socket, std::span<const bytes_view> pieces, std::size_t bytes_max = SIZE_MAX, int descriptor = -1);

/// Whether a call failed only because the socket cannot go on now.
[[nodiscard]] bool would_block(int error) noexcept;

/// Room for one descriptor beside the bytes of a message.
union descriptor_room {
  cmsghdr head;
  std::array<std::byte, CMSG_SPACE(sizeof(int))> bytes{};
};

/// The transport over `socket`, which must be connected.
[[nodiscard]] std::shared_ptr<transport> make_socket_transport(stream_socket socket);

} // namespace troupe::internal
