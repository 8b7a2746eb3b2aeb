// The transport over a connected unix or TCP socket.
#pragma once

#include <memory>

#include <troupe/framework/internal/net/stream_socket.hpp>
#include <troupe/framework/internal/net/transport.hpp>

namespace troupe::internal {

/// Sets what a link wants of its socket: nothing held back, little piled up in the kernel.
void tune(stream_socket& socket);

/// The transport over `socket`, which must be connected.
[[nodiscard]] std::shared_ptr<transport> make_socket_transport(stream_socket socket);

} // namespace troupe::internal
