// Addresses at which a node listens or which it dials, in their textual form.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include <asio/generic/basic_endpoint.hpp>

#include <troupe/framework/node_errc.hpp>

namespace asio::generic {
class stream_protocol;
}

namespace troupe::internal {

enum class transport_kind : std::uint8_t { unix_socket, tcp, tls, inproc };

/// The text before "://" in an address.
[[nodiscard]] std::string_view name_of(transport_kind kind);

/// Whether both ends of such a transport are always on one host.
[[nodiscard]] constexpr bool stays_on_host(transport_kind kind) {
  return kind == transport_kind::unix_socket || kind == transport_kind::inproc;
}

/// "unix:///path" (a socket file), "unix://@name" (a name without a file, which ends with its owner), "shm" instead of
/// "unix" in both (links over it use rings), "tcp://host:port", "tls://host:port", or "inproc://name" (within this
/// process). A host is a name, an IPv4 address, or an IPv6 address in brackets.
struct address {
  std::string text; // As given.
  transport_kind kind = transport_kind::unix_socket;
  std::string path; // Of a unix socket: the path, or '@' and the name of a socket without a file. Of inproc: the name.
  std::string host; // Without brackets.
  std::uint16_t port = 0;
  bool wants_rings = false; // Of a unix socket: written with "shm://".
};

/// Fails with `bad_address`; the text lists the known forms.
[[nodiscard]] std::expected<address, node_error> parse_address(std::string_view text);

/// Returns the same address with another port.
[[nodiscard]] std::string with_port(const address& at, std::uint16_t port);

using stream_endpoint = asio::generic::basic_endpoint<asio::generic::stream_protocol>;

/// Whether only processes of this host can reach the endpoint: unix sockets, 127.0.0.0/8 and ::1.
[[nodiscard]] bool is_of_this_host(const stream_endpoint& endpoint);

/// Formats an endpoint as an address with a numeric host: "tcp://10.0.0.2:4000", "unix:///path". Empty for an unbound
/// unix socket.
[[nodiscard]] std::string text_of(transport_kind kind, const stream_endpoint& endpoint);

/// Whether the address has a numeric host, so that resolving it needs no name lookup.
[[nodiscard]] bool has_numeric_host(const address& at);

/// Requires: an IP endpoint.
[[nodiscard]] std::uint16_t port_of(const stream_endpoint& endpoint);

} // namespace troupe::internal
