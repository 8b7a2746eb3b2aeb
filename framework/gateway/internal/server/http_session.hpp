// A connection of HTTP.
#pragma once

#include <memory>

#include <troupe/framework/gateway/internal/server/boost_net.hpp>
#include <troupe/framework/gateway/internal/server/gateway_core.hpp>

namespace troupe::web {

/// Serves the requests of a connection, one after the other, until it ends. Begins on the socket's executor. `tls`:
/// null for plain connections.
void serve_http(gateway_core& core, net::ip::tcp::socket socket, net::ssl::context* tls);

} // namespace troupe::web
