// The transport over TLS on a connected TCP socket.
#pragma once

#include <memory>
#include <string>

#include <troupe/framework/internal/net/stream_socket.hpp>
#include <troupe/framework/internal/net/transport.hpp>
#include <troupe/framework/internal/trust/handshake_turns.hpp>
#include <troupe/framework/internal/trust/tls_context.hpp>

namespace troupe::internal {

/// Starts the TLS handshake with the first read or write, and holds both back until it is done. A failed handshake
/// fails both, with an error of `admission_category` that tells the reason. A dialing end names the server whose
/// certificate it expects. A listening end passes no name, and if there are `turns`, waits for its turn.
[[nodiscard]] std::shared_ptr<transport> make_tls_transport(stream_socket socket, tls_context context,
                                                            std::string server,
                                                            std::shared_ptr<handshake_turns> turns = nullptr);

} // namespace troupe::internal
