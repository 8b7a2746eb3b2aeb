#include <troupe/framework/internal/net/address.hpp>

#include <troupe/framework/internal/words/failing.hpp>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <utility>

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace troupe::internal {

namespace {

std::expected<address, node_error> parse_unix(address result, std::string_view path) {
  constexpr std::size_t path_bytes_max = 107; // sun_path without its terminating zero.
  if (path.size() < 2 || path.size() > path_bytes_max || (path[0] != '/' && path[0] != '@'))
    return fail(node_errc::bad_address, "address \"" + result.text
                                            + "\" needs an absolute path or @name of 2 to 107 bytes, has "
                                            + std::to_string(path.size()));
  result.path = path;
  return result;
}

std::expected<address, node_error> parse_inproc(address result, std::string_view name) {
  constexpr std::size_t name_bytes_max = 255;
  if (name.empty() || name.size() > name_bytes_max)
    return fail(node_errc::bad_address,
                "address \"" + result.text + "\" needs a name of 1 to 255 bytes, has " + std::to_string(name.size()));
  result.path = name;
  return result;
}

std::expected<address, node_error> parse_host_and_port(address result, std::string_view rest) {
  auto refuse = [&](std::string why) { return fail(node_errc::bad_address, "address \"" + result.text + "\" " + why); };
  constexpr std::size_t host_bytes_max = 253; // The limit of DNS.
  std::string_view host, port;
  if (rest.starts_with('[')) {
    auto end = rest.find(']');
    if (end == std::string_view::npos)
      return refuse("has a [ without its ]");
    host = rest.substr(1, end - 1);
    port = rest.substr(end + 1);
    if (host.find(':') == std::string_view::npos)
      return refuse("has brackets around a host that is not an IPv6 address");
  } else {
    auto colon = rest.find(':');
    host = rest.substr(0, colon);
    port = colon == std::string_view::npos ? std::string_view{} : rest.substr(colon);
    if (port.find(':', 1) != std::string_view::npos)
      return refuse("has several colons; write IPv6 addresses in brackets, as in tcp://[::1]:4000");
  }
  constexpr std::string_view known = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:%";
  if (host.empty() || host.size() > host_bytes_max || host.find_first_not_of(known) != std::string_view::npos)
    return refuse("needs a host: a name, an IPv4 address or an IPv6 address in brackets");
  std::uint16_t number = 0;
  auto digits = port.empty() ? port : port.substr(1);
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (!port.starts_with(':') || digits.empty() || error != std::errc{} || end != digits.data() + digits.size())
    return refuse("needs a port from 0 to 65535 after its host, as in tcp://localhost:4000");
  result.host = host;
  result.port = number;
  return result;
}

} // namespace

std::string_view name_of(transport_kind kind) {
  switch (kind) {
  case transport_kind::unix_socket:
    return "unix";
  case transport_kind::tcp:
    return "tcp";
  case transport_kind::tls:
    return "tls";
  case transport_kind::inproc:
    return "inproc";
  }
  return "";
}

std::expected<address, node_error> parse_address(std::string_view text) {
  address result{.text = std::string{text}, .path = {}, .host = {}};
  auto rest_behind = [&](std::string_view scheme) { return text.substr(scheme.size()); };
  if (text.starts_with("unix://"))
    return parse_unix(std::move(result), rest_behind("unix://"));
  if (text.starts_with("shm://")) {
    result.wants_rings = true;
    return parse_unix(std::move(result), rest_behind("shm://"));
  }
  if (text.starts_with("inproc://")) {
    result.kind = transport_kind::inproc;
    return parse_inproc(std::move(result), rest_behind("inproc://"));
  }
  if (text.starts_with("tcp://")) {
    result.kind = transport_kind::tcp;
    return parse_host_and_port(std::move(result), rest_behind("tcp://"));
  }
  if (text.starts_with("tls://")) {
    result.kind = transport_kind::tls;
    return parse_host_and_port(std::move(result), rest_behind("tls://"));
  }
  return fail(node_errc::bad_address,
              "address \"" + result.text
                  + "\" is not supported; known: unix:///path/of/socket, "
                    "unix://@name, shm:///path/of/socket, tcp://host:port, tls://host:port, inproc://name");
}

std::string with_port(const address& at, std::uint16_t port) {
  auto host = at.host.find(':') == std::string::npos ? at.host : '[' + at.host + ']';
  return (at.kind == transport_kind::tls ? "tls://" : "tcp://") + host + ':' + std::to_string(port);
}

bool is_of_this_host(const stream_endpoint& endpoint) {
  const auto* any = endpoint.data();
  if (any->sa_family == AF_INET) {
    sockaddr_in v4;
    std::memcpy(&v4, any, sizeof(v4));
    return ntohl(v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
  }
  if (any->sa_family == AF_INET6) {
    sockaddr_in6 v6;
    std::memcpy(&v6, any, sizeof(v6));
    return IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr) != 0;
  }
  return true;
}

std::string text_of(transport_kind kind, const stream_endpoint& endpoint) {
  const auto* any = endpoint.data();
  const auto scheme = std::string{name_of(kind)} + "://";
  if (any->sa_family == AF_UNIX) {
    constexpr auto begin = offsetof(sockaddr_un, sun_path);
    if (endpoint.size() <= begin)
      return {};
    std::string path(reinterpret_cast<const char*>(any) + begin, endpoint.size() - begin);
    if (path[0] == '\0')
      path[0] = '@';
    else
      path.resize(path.find_last_not_of('\0') + 1); // The kernel counts the terminating zero.
    return scheme + path;
  }
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (any->sa_family == AF_INET) {
    sockaddr_in v4;
    std::memcpy(&v4, any, sizeof(v4));
    ::inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
    return scheme + text.data() + ':' + std::to_string(port_of(endpoint));
  }
  if (any->sa_family == AF_INET6) {
    sockaddr_in6 v6;
    std::memcpy(&v6, any, sizeof(v6));
    ::inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
    return scheme + '[' + text.data() + "]:" + std::to_string(port_of(endpoint));
  }
  return {};
}

bool has_numeric_host(const address& at) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST;
  addrinfo* list = nullptr;
  if (::getaddrinfo(at.host.c_str(), nullptr, &hints, &list) != 0)
    return false;
  ::freeaddrinfo(list);
  return true;
}

std::uint16_t port_of(const stream_endpoint& endpoint) {
  // The port is at the same offset in both families.
  static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));
  sockaddr_in any{};
  std::memcpy(&any, endpoint.data(), std::min(sizeof(any), endpoint.size()));
  return ntohs(any.sin_port);
}

} // namespace troupe::internal
