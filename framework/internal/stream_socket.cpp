#include <troupe/framework/internal/stream_socket.hpp>

#include <cerrno>
#include <cstring>

#include <netdb.h>
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
  char host[NI_MAXHOST] = {};
  if (error || (peer.data()->sa_family != AF_INET && peer.data()->sa_family != AF_INET6)
      || ::getnameinfo(peer.data(), static_cast<socklen_t>(peer.size()), host, sizeof(host), nullptr, 0, NI_NUMERICHOST)
             != 0)
    return {};
  return host;
}

} // namespace troupe::internal
