// The transport over a connected unix socket, whose bytes may move into rings.
#pragma once

#include <memory>

#include <troupe/framework/internal/net/stream_socket.hpp>
#include <troupe/framework/internal/net/transport.hpp>

namespace troupe::internal {

/// Makes the transport over `socket`. Requires: a connected unix socket.
///
/// Once a direction has moved into its ring, a byte on the socket tells the other end to check the rings. It is sent to
/// an end that sleeps or waits for room. The end of the socket is the end of the connection. Bytes that the peer put
/// into its ring before that are still read.
[[nodiscard]] std::shared_ptr<transport> make_unix_transport(stream_socket socket);

} // namespace troupe::internal
