#include "wire.hpp"

#include <stdexcept>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace troupe::tests::compat {

namespace {

constexpr timeval longest_silence{.tv_sec = 20, .tv_usec = 0};
constexpr std::uint32_t longest_body = 1 << 20;

sockaddr_in loopback(unsigned port) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(static_cast<std::uint16_t>(port));
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return at;
}

} // namespace

wire::wire(int connected) : socket_(connected) {
  const int on = 1; // Otherwise each packet waits until the packet before it is acknowledged.
  ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &longest_silence, sizeof(longest_silence));
}

wire::~wire() {
  ::close(socket_);
}

void wire::write(const bytes& what) {
  for (std::size_t at = 0; at < what.size();) {
    const auto written = ::send(socket_, what.data() + at, what.size() - at, MSG_NOSIGNAL);
    if (written <= 0)
      return; // The peer has closed, which the reader notices.
    at += static_cast<std::size_t>(written);
  }
}

void wire::write_packet(const packet& what) {
  auto all = head_of(what);
  all.insert(all.end(), what.body.begin(), what.body.end());
  write(all);
}

bool wire::read(bytes& into) {
  for (std::size_t at = 0; at < into.size();) {
    const auto count = ::recv(socket_, into.data() + at, into.size() - at, 0);
    if (count <= 0)
      return false;
    at += static_cast<std::size_t>(count);
  }
  return true;
}

std::optional<packet> wire::read_packet(end from) {
  bytes head(head_bytes);
  if (!read(head))
    return std::nullopt;
  std::uint32_t size = 0;
  for (unsigned i = 0; i < 4; ++i)
    size |= std::to_integer<std::uint32_t>(head[i]) << 8 * i;
  if (size > longest_body)
    throw std::runtime_error("a packet of " + std::to_string(size) + " bytes");
  packet result{from, std::to_integer<std::uint8_t>(head[4]), std::to_integer<std::uint8_t>(head[5]), bytes(size)};
  if (!read(result.body))
    return std::nullopt;
  return result;
}

void wire::end_of_writing() {
  ::shutdown(socket_, SHUT_WR);
}

entrance::entrance() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  auto at = loopback(0);
  socklen_t size = sizeof(at);
  if (::bind(socket_, reinterpret_cast<const sockaddr*>(&at), size) != 0 || ::listen(socket_, 1) != 0
      || ::getsockname(socket_, reinterpret_cast<sockaddr*>(&at), &size) != 0)
    throw std::runtime_error("cannot listen");
  port_ = ntohs(at.sin_port);
}

entrance::~entrance() {
  ::close(socket_);
}

int entrance::accept() const {
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &longest_silence, sizeof(longest_silence));
  const auto result = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
  if (result < 0)
    throw std::runtime_error("nobody dials");
  return result;
}

int dial(const std::string& address) {
  const auto result = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto to = loopback(static_cast<unsigned>(std::stoul(address.substr(address.rfind(':') + 1))));
  if (::connect(result, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) != 0) {
    ::close(result);
    throw std::runtime_error("cannot connect to " + address);
  }
  return result;
}

} // namespace troupe::tests::compat
