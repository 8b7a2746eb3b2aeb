// A WebSocket: an actor whose messages a client writes and reads.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include <troupe/framework/gateway/internal/access/token_rights.hpp>
#include <troupe/framework/gateway/internal/server/boost_net.hpp>
#include <troupe/framework/gateway/internal/server/connection_table.hpp>
#include <troupe/framework/gateway/internal/server/gateway_core.hpp>

namespace troupe::web {

/// What is known when a connection becomes a WebSocket.
struct socket_opening {
  std::string actor;
  std::string address;
  std::shared_ptr<const token_rights> rights;        ///< Null: the client must send its token first.
  std::chrono::steady_clock::time_point token_limit; ///< Without rights: when the connection ends.
  std::string protocol;                              ///< The subprotocol to agree on; may be empty.
  std::unique_ptr<connection_table::place> place;
};

/// Serves the WebSocket until it ends. `request` asks for it.
template <class Stream>
[[nodiscard]] net::awaitable<void> serve_socket(gateway_core& core, Stream stream, socket_opening opening,
                                                http::request<http::empty_body> request);

extern template net::awaitable<void> serve_socket(gateway_core&, plain_stream, socket_opening,
                                                  http::request<http::empty_body>);
extern template net::awaitable<void> serve_socket(gateway_core&, tls_stream, socket_opening,
                                                  http::request<http::empty_body>);

} // namespace troupe::web
