#include <troupe/framework/internal/net/stream_socket.hpp>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace troupe::internal {

namespace {

template <class Address>
std::string_view raw(const Address& address) {
  return {reinterpret_cast<const char*>(&address), sizeof(address)};
}

peer_source networks_of(std::string_view address, const std::array<std::size_t, 3>& bytes) {
  peer_source result;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    result.networks[i] = address.substr(0, bytes[i]);
  return result;
}

std::string text_of_file(const char* path) {
  std::ifstream file{path};
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

} // namespace

std::expected<stream_socket, node_error> moved_to(asio::io_context& io, stream_socket socket) {
  if (socket.get_executor() == stream_socket::executor_type{io.get_executor()})
    return socket;
  std::error_code failed;
  const auto protocol = socket.local_endpoint(failed).protocol();
  const auto descriptor = failed ? -1 : socket.release(failed);
  stream_socket moved{io};
  if (!failed) {
    moved.assign(protocol, descriptor, failed);
    if (failed)
      ::close(descriptor);
  }
  if (failed)
    return std::unexpected{
        node_error{node_errc::link_down, "the connection cannot go to another I/O thread: " + failed.message()}};
  return moved;
}

bool is_mapped(uid_t user, uid_t overflow, std::string_view map) {
  if (user != overflow)
    return true; // The kernel shows other ids only for mapped users.
  std::istringstream lines{std::string{map}};
  for (std::uint64_t inside = 0, outside = 0, count = 0; lines >> inside >> outside >> count;)
    if (user >= inside && user - inside < count)
      return true;
  return false;
}

bool is_this_user(uid_t user) {
  if (user != ::geteuid())
    return false;
  uid_t overflow = 65534;
  std::istringstream{text_of_file("/proc/sys/kernel/overflowuid")} >> overflow;
  // Without /proc nothing tells that the id is mapped.
  return user != overflow || is_mapped(user, overflow, text_of_file("/proc/self/uid_map"));
}

std::expected<void, node_error> check_same_user(stream_socket& socket) {
  auto fail = [](std::string text) { return std::unexpected{node_error{node_errc::refused, std::move(text)}}; };
  ucred peer{};
  socklen_t size = sizeof(peer);
  if (::getsockopt(socket.native_handle(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
    return fail(std::string{"the peer's credentials cannot be read: "} + std::strerror(errno));
  if (peer.uid == ::geteuid() && !is_this_user(peer.uid))
    return fail("the peer runs as user " + std::to_string(peer.uid)
                + ", the placeholder for users that this user namespace does not map; map the user that this node "
                  "runs as (/proc/self/uid_map)");
  if (peer.uid != ::geteuid())
    return fail("the peer runs as user " + std::to_string(peer.uid) + ", this node as user "
                + std::to_string(::geteuid()) + "; unix sockets link processes of one user only");
  return {};
}

peer_source source_of(const stream_socket& socket) {
  std::error_code error;
  auto peer = socket.remote_endpoint(error);
  return error ? peer_source{} : source_of(peer);
}

std::string near_host_of(const stream_socket& socket) {
  std::error_code error;
  auto near = socket.local_endpoint(error);
  char text[NI_MAXHOST] = {};
  if (error || (near.data()->sa_family != AF_INET && near.data()->sa_family != AF_INET6)
      || ::getnameinfo(near.data(), static_cast<socklen_t>(near.size()), text, sizeof(text), nullptr, 0, NI_NUMERICHOST)
             != 0)
    return {};
  std::string host{text};
  constexpr std::string_view mapped = "::ffff:";
  if (host.starts_with(mapped) && host.find('.') != std::string::npos)
    host.erase(0, mapped.size());
  return host.substr(0, host.find('%')); // A zone has a meaning on this host only.
}

peer_source source_of(const asio::generic::stream_protocol::endpoint& peer) {
  std::string_view address;
  const auto* any = peer.data();
  if (any->sa_family == AF_INET) {
    address = raw(reinterpret_cast<const sockaddr_in*>(any)->sin_addr);
  } else if (any->sa_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6*>(any)->sin6_addr;
    if (!IN6_IS_ADDR_V4MAPPED(&v6))
      return networks_of(raw(v6), {6, 7, 8});
    address = raw(v6).substr(12);
  } else {
    return {};
  }
  return networks_of(address, {2, 3, 4});
}

} // namespace troupe::internal
