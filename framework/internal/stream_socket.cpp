#include <troupe/framework/internal/stream_socket.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace troupe::internal {

std::expected<void, node_error> check_same_user(stream_socket& socket) {
  auto fail = [](std::string text) { return std::unexpected{node_error{node_errc::refused, std::move(text)}}; };
  ucred peer{};
  socklen_t size = sizeof(peer);
  if (::getsockopt(socket.native_handle(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
    return fail(std::string{"the peer's credentials cannot be read: "} + std::strerror(errno));
  if (peer.uid != ::geteuid())
    return fail("the peer runs as user " + std::to_string(peer.uid) + ", this node as user "
                + std::to_string(::geteuid()) + "; unix sockets link processes of one user only");
  return {};
}

std::string source_of(const stream_socket& socket) {
  std::error_code error;
  auto peer = socket.remote_endpoint(error);
  return error ? std::string{} : source_of(peer);
}

std::string source_of(asio::generic::stream_protocol::endpoint peer) {
  if (peer.data()->sa_family == AF_INET6) {
    auto* address = reinterpret_cast<sockaddr_in6*>(peer.data());
    if (!IN6_IS_ADDR_V4MAPPED(&address->sin6_addr))
      std::fill(std::begin(address->sin6_addr.s6_addr) + 8, std::end(address->sin6_addr.s6_addr), std::uint8_t{0});
  }
  char host[NI_MAXHOST] = {};
  if ((peer.data()->sa_family != AF_INET && peer.data()->sa_family != AF_INET6)
      || ::getnameinfo(peer.data(), static_cast<socklen_t>(peer.size()), host, sizeof(host), nullptr, 0, NI_NUMERICHOST)
             != 0)
    return {};
  return host;
}

} // namespace troupe::internal
