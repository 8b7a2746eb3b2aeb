// The transport over a connected unix socket, whose bytes can move into rings.
#pragma once

#include <memory>

#include <troupe/framework/internal/net/stream_socket.hpp>
#include <troupe/framework/internal/net/transport.hpp>

namespace troupe::internal {

/// The transport over `socket`, which must be a connected unix socket.
///
/// Once a direction has moved into its ring, a byte on the socket says to the other end: look at the rings. It is sent
/// to an end that sleeps or waits for room. The end of the socket is the end of the connection; what the peer had put
/// into its ring before is still read.
[[nodiscard]] std::shared_ptr<transport> make_unix_transport(stream_socket socket);

} // namespace troupe::internal
