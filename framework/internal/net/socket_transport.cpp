#include <troupe/framework/internal/net/socket_transport.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <asio/write.hpp>

#include <troupe/framework/internal/net/address.hpp>
#include <troupe/framework/internal/net/loopback_ends.hpp>

namespace troupe::internal {

namespace {

// What lies in the kernel cannot be overtaken: a small urgent packet waits behind it. Enough to keep a fast network
// busy between two writes, a few milliseconds' worth on a slow one.
constexpr int tcp_unsent_bytes = 128 * 1024;

// For unix sockets, where nothing is ever on its way: room for one chunk, so that writer and reader work at the same
// time. The kernel doubles it for its own bookkeeping and cuts it to net.core.wmem_max.
constexpr int unix_buffer_bytes = 256 * 1024;

class socket_transport final : public transport, public std::enable_shared_from_this<socket_transport> {
public:
  explicit socket_transport(stream_socket socket)
      : socket_(std::move(socket)), ends_(loopback_ends::of(socket_)), near_host_(near_host_of(socket_)) {}

  const loopback_ends* loopback() const noexcept override { return ends_ ? &*ends_ : nullptr; }
  std::string near_host() const override { return near_host_; }

  void read_some(std::span<std::byte> into, std::function<void(std::error_code, std::size_t)> done) override {
    socket_.async_read_some(asio::buffer(into.data(), into.size()),
                            [self = shared_from_this(),
                             done = std::move(done)](std::error_code error, std::size_t count) { done(error, count); });
  }

  void write(std::span<const bytes_view> pieces, std::function<void(std::error_code)> done) override {
    buffers_.clear();
    for (auto piece : pieces)
      buffers_.emplace_back(piece.data(), piece.size());
    asio::async_write(
        socket_, buffers_,
        [self = shared_from_this(), done = std::move(done)](std::error_code error, std::size_t) { done(error); });
  }

  std::expected<std::size_t, std::error_code> write_now(std::span<const bytes_view> pieces) override {
    return send_now(socket_.native_handle(), pieces);
  }

  end_addresses addresses() const override {
    std::error_code ignored; // What is not connected any more has none.
    return {text_of(transport_kind::tcp, socket_.local_endpoint(ignored)),
            text_of(transport_kind::tcp, socket_.remote_endpoint(ignored))};
  }

  bool finish_writing() override {
    std::error_code failed;
    // A TCP socket that is closed with bytes unread resets the connection, and what was written is lost.
    socket_.shutdown(stream_socket::shutdown_send, failed);
    return !failed;
  }

  void close() override {
    std::error_code ignored; // A peer that is gone already makes these fail, to the same end.
    socket_.shutdown(stream_socket::shutdown_both, ignored);
    socket_.close(ignored);
  }

private:
  stream_socket socket_;
  const std::optional<loopback_ends> ends_;
  const std::string near_host_;
  std::vector<asio::const_buffer> buffers_; // I/O thread only.
};

} // namespace

bool would_block(int error) noexcept {
  return error == EAGAIN || error == EWOULDBLOCK || error == ENOBUFS;
}

std::expected<std::size_t, std::error_code> send_now(int socket, std::span<const bytes_view> pieces,
                                                     std::size_t bytes_max, int descriptor) {
  std::array<iovec, IOV_MAX> list; // Filled as far as it is used.
  msghdr message{};
  message.msg_iov = list.data();
  for (const auto piece : pieces) {
    if (message.msg_iovlen == list.size() || bytes_max == 0)
      break;
    const auto bytes = std::min(piece.size(), bytes_max);
    list[message.msg_iovlen++] = {const_cast<std::byte*>(piece.data()), bytes}; // The kernel only reads.
    bytes_max -= bytes;
  }
  descriptor_room room;
  if (descriptor >= 0) {
    message.msg_control = room.bytes.data();
    message.msg_controllen = room.bytes.size();
    auto* const head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(head), &descriptor, sizeof(descriptor));
  }
  ssize_t sent = 0;
  do {
    sent = ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (sent < 0 && errno == EINTR);
  if (sent >= 0)
    return static_cast<std::size_t>(sent);
  if (would_block(errno))
    return 0;
  return std::unexpected{std::error_code{errno, std::system_category()}};
}

void tune(stream_socket& socket) {
  // Where the kernel refuses, the link works all the same.
  auto set = [&](int level, int name, int value) {
    [[maybe_unused]] auto refused = ::setsockopt(socket.native_handle(), level, name, &value, sizeof(value));
  };
  std::error_code ignored;
  auto family = socket.local_endpoint(ignored).protocol().family();
  if (family == AF_UNIX) {
    set(SOL_SOCKET, SO_SNDBUF, unix_buffer_bytes);
    return;
  }
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(IPPROTO_TCP, TCP_NOTSENT_LOWAT, tcp_unsent_bytes);
}

std::shared_ptr<transport> make_socket_transport(stream_socket socket) {
  tune(socket);
  return std::make_shared<socket_transport>(std::move(socket));
}

} // namespace troupe::internal
