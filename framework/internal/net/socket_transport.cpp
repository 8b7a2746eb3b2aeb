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

// Bytes in the kernel cannot be overtaken, so a small urgent packet waits behind them. This amount keeps a fast network
// busy between two writes, and takes a few milliseconds on a slow one.
constexpr int tcp_unsent_bytes = 128 * 1024;

// For unix sockets, which have no network in between. It is room for one chunk, so that writer and reader work at the
// same time. The kernel doubles the value for its own bookkeeping and limits it to net.core.wmem_max.
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
    std::error_code ignored; // A disconnected socket has no addresses.
    return {text_of(transport_kind::tcp, socket_.local_endpoint(ignored)),
            text_of(transport_kind::tcp, socket_.remote_endpoint(ignored))};
  }

  bool finish_writing() override {
    std::error_code failed;
    // Closing a TCP socket with unread bytes resets the connection and loses what was written.
    socket_.shutdown(stream_socket::shutdown_send, failed);
    return !failed;
  }

  void close() override {
    std::error_code ignored; // They fail if the peer is gone, with the same result.
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
  std::array<iovec, IOV_MAX> list; // Initialized only as far as it is used.
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
  // If the kernel refuses an option, the link works nevertheless.
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
