#include <troupe/framework/internal/socket.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <asio/write.hpp>

namespace troupe::internal {

namespace {

using local = asio::local::stream_protocol;

std::unexpected<node_error> fail(node_errc code, std::string text) {
  return std::unexpected{node_error{code, std::move(text)}};
}

class socket_transport final : public transport, public std::enable_shared_from_this<socket_transport> {
public:
  explicit socket_transport(stream_socket socket) : socket_(std::move(socket)) {}

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
    constexpr std::size_t pieces_max = 64;
    iovec parts[pieces_max];
    std::size_t total = 0;
    while (!pieces.empty()) {
      auto count = std::min(pieces.size(), pieces_max);
      std::size_t wanted = 0;
      for (std::size_t i = 0; i < count; ++i) {
        parts[i] = {const_cast<std::byte*>(pieces[i].data()), pieces[i].size()};
        wanted += pieces[i].size();
      }
      msghdr message{};
      message.msg_iov = parts;
      message.msg_iovlen = count;
      auto written = ::sendmsg(socket_.native_handle(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (written < 0 && errno == EINTR)
        continue;
      if (written < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS))
        return total;
      if (written < 0)
        return std::unexpected{std::error_code{errno, std::system_category()}};
      total += static_cast<std::size_t>(written);
      if (static_cast<std::size_t>(written) < wanted)
        return total;
      pieces = pieces.subspan(count);
    }
    return total;
  }

  void close() override {
    std::error_code ignored; // A peer that is gone already makes these fail, to the same end.
    socket_.shutdown(stream_socket::shutdown_both, ignored);
    socket_.close(ignored);
  }

private:
  stream_socket socket_;
  std::vector<asio::const_buffer> buffers_;
};

/// Whether a socket file was left behind by somebody who is gone. Anything that is no socket, or that cannot be asked,
/// is not.
bool is_left_behind(const address& at) {
  struct stat status {};
  if (at.socket_file.empty() || ::lstat(at.socket_file.c_str(), &status) != 0 || !S_ISSOCK(status.st_mode))
    return false;
  // Non-blocking: a listener whose queue is full is alive.
  auto probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (probe < 0)
    return false;
  auto connected = ::connect(probe, at.endpoint.data(), static_cast<socklen_t>(at.endpoint.size()));
  auto refused = connected != 0 && errno == ECONNREFUSED;
  ::close(probe);
  return refused;
}

} // namespace

std::expected<address, node_error> parse_address(std::string_view text) {
  constexpr std::string_view scheme = "unix://";
  if (!text.starts_with(scheme))
    return fail(node_errc::bad_address,
                "address \"" + std::string{text}
                    + "\" is not one this node can use; known: unix:///path/of/socket, unix://@name");
  auto path = std::string{text.substr(scheme.size())};
  address result{.text = std::string{text}, .endpoint = {}, .socket_file = {}};
  constexpr std::size_t path_bytes_max = 107; // sun_path, less its end.
  if (path.size() < 2 || path.size() > path_bytes_max || (path[0] != '/' && path[0] != '@'))
    return fail(node_errc::bad_address, "address \"" + result.text
                                            + "\" needs an absolute path or @name of 2 to 107 bytes, has "
                                            + std::to_string(path.size()));
  if (path[0] == '@')
    path[0] = '\0';
  else
    result.socket_file = path;
  result.endpoint = local::endpoint{path};
  return result;
}

std::shared_ptr<transport> make_socket_transport(stream_socket socket) {
  return std::make_shared<socket_transport>(std::move(socket));
}

std::expected<void, node_error> check_same_user(stream_socket& socket) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  if (::getsockopt(socket.native_handle(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
    return fail(node_errc::refused, std::string{"the peer's credentials cannot be read: "} + std::strerror(errno));
  if (peer.uid != ::geteuid())
    return fail(node_errc::refused, "the peer runs as user " + std::to_string(peer.uid) + ", this node as user "
                                        + std::to_string(::geteuid())
                                        + "; unix sockets link processes of one user only");
  return {};
}

listener::listener(asio::io_context& io, address at, accepted on_accept)
    : at_(std::move(at)), on_accept_(std::move(on_accept)), acceptor_(io), pause_(io) {}

listener::~listener() {
  close();
}

std::expected<std::shared_ptr<listener>, node_error> listener::open(asio::io_context& io, const address& at,
                                                                    accepted on_accept) {
  auto result = std::shared_ptr<listener>{new listener{io, at, std::move(on_accept)}};
  auto& acceptor = result->acceptor_;
  std::error_code error;
  acceptor.open(at.endpoint.protocol(), error);
  if (!error) {
    acceptor.bind(at.endpoint, error);
    if (error == asio::error::address_in_use && is_left_behind(at)) {
      ::unlink(at.socket_file.c_str());
      error.clear();
      acceptor.bind(at.endpoint, error);
    }
  }
  if (error == asio::error::address_in_use)
    return fail(node_errc::cannot_connect, "cannot listen at " + at.text + ": somebody listens there already");
  if (!error && !at.socket_file.empty()) {
    result->owns_file_ = true;
    if (::chmod(at.socket_file.c_str(), S_IRUSR | S_IWUSR) != 0)
      error = std::error_code{errno, std::system_category()};
  }
  if (!error)
    acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error)
    return fail(node_errc::bad_address, "cannot listen at " + at.text + ": " + error.message());
  result->accept_next();
  return result;
}

void listener::accept_next() {
  acceptor_.async_accept([weak = weak_from_this()](std::error_code error, local::socket socket) {
    auto self = weak.lock();
    if (!self || !self->acceptor_.is_open())
      return;
    if (!error) {
      self->on_accept_(stream_socket{std::move(socket)});
      self->accept_next();
      return;
    }
    // Out of file descriptors, most likely: the next try at once would fail the same way.
    self->pause_.expires_after(std::chrono::milliseconds{100});
    self->pause_.async_wait([weak](std::error_code cancelled) {
      auto paused = weak.lock();
      if (paused && !cancelled && paused->acceptor_.is_open())
        paused->accept_next();
    });
  });
}

void listener::close() {
  if (!acceptor_.is_open())
    return;
  std::error_code ignored;
  acceptor_.close(ignored);
  pause_.cancel();
  if (owns_file_)
    ::unlink(at_.socket_file.c_str());
}

std::expected<stream_socket, node_error> dial(asio::io_context& io, const address& to,
                                              std::chrono::milliseconds timeout) {
  local::socket socket{io};
  // A unix socket connects at once, or waits while the listener's queue is full: the send timeout bounds that.
  std::error_code error;
  socket.open(to.endpoint.protocol(), error);
  if (!error) {
    timeval limit{.tv_sec = timeout.count() / 1000, .tv_usec = timeout.count() % 1000 * 1000};
    ::setsockopt(socket.native_handle(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
    socket.connect(to.endpoint, error);
  }
  if (error == asio::error::would_block || error == asio::error::try_again || error == asio::error::no_buffer_space)
    return fail(node_errc::timed_out,
                "nobody accepted at " + to.text + " within " + std::to_string(timeout.count()) + " ms");
  if (error)
    return fail(node_errc::cannot_connect, "cannot connect to " + to.text + ": " + error.message());
  return stream_socket{std::move(socket)};
}

} // namespace troupe::internal
