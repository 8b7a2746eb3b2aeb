// The transport over TLS on a connected TCP socket.
#pragma once

#include <memory>
#include <string>

#include <troupe/framework/internal/net/stream_socket.hpp>
#include <troupe/framework/internal/net/transport.hpp>
#include <troupe/framework/internal/trust/handshake_turns.hpp>
#include <troupe/framework/internal/trust/tls_context.hpp>

namespace troupe::internal {

/// Shakes hands as soon as something is to be read or written, and holds that back until then; a handshake that fails
/// fails both, with an error of `admission_category` that tells the reason. A dialing one names the server whose
/// certificate it wants; a listening one does not, and waits for its turn where there are `turns`.
[[nodiscard]] std::shared_ptr<transport> make_tls_transport(stream_socket socket, tls_context context,
                                                            std::string server,
                                                            std::shared_ptr<handshake_turns> turns = nullptr);

} // namespace troupe::internal
