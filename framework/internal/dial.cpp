#include <troupe/framework/internal/dial.hpp>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace troupe::internal {

namespace {

std::error_code last_error() {
  return {errno, std::system_category()};
}

/// Waits for a connection that is under way.
std::error_code wait_until_connected(int socket, deadline until) {
  pollfd ready{.fd = socket, .events = POLLOUT, .revents = 0};
  int count = 0;
  do {
    count = ::poll(&ready, 1, static_cast<int>(std::min<std::int64_t>(time_until(until).count(), INT32_MAX)));
  } while (count < 0 && errno == EINTR);
  if (count < 0)
    return last_error();
  if (count == 0)
    return std::make_error_code(std::errc::timed_out);
  int error = 0;
  socklen_t size = sizeof(error);
  if (::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
    return last_error();
  return {error, std::system_category()};
}

std::error_code connect_within(int socket, const stream_endpoint& to, deadline until) {
  if (::connect(socket, to.data(), static_cast<socklen_t>(to.size())) == 0)
    return {};
  if (errno == EINPROGRESS)
    return wait_until_connected(socket, until);
  // A unix socket whose listener's queue stayed full.
  if (errno == EAGAIN)
    return std::make_error_code(std::errc::timed_out);
  return last_error();
}

/// A unix socket connects at once, or waits while the listener's queue is full: the send timeout bounds that.
std::error_code connect_unix(int socket, const stream_endpoint& to, deadline until) {
  auto left = std::max(time_until(until), std::chrono::milliseconds{1}); // Zero would be no limit.
  timeval limit{.tv_sec = left.count() / 1000, .tv_usec = left.count() % 1000 * 1000};
  ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
  return connect_within(socket, to, until);
}

} // namespace

std::chrono::milliseconds time_until(deadline then) {
  auto left = std::chrono::ceil<std::chrono::milliseconds>(then - std::chrono::steady_clock::now());
  return std::max(left, std::chrono::milliseconds{0});
}

std::expected<stream_socket, node_error> dial(asio::io_context& io, const std::string& text,
                                              std::span<const stream_endpoint> endpoints, deadline until) {
  std::error_code error;
  for (const auto& to : endpoints) {
    auto is_unix = to.data()->sa_family == AF_UNIX;
    auto type = SOCK_STREAM | SOCK_CLOEXEC | (is_unix ? 0 : SOCK_NONBLOCK);
    int socket = ::socket(to.data()->sa_family, type, 0);
    error = socket < 0 ? last_error() : is_unix ? connect_unix(socket, to, until) : connect_within(socket, to, until);
    if (error) {
      if (socket >= 0)
        ::close(socket);
      continue;
    }
    stream_socket connected{io};
    connected.assign(to.protocol(), socket, error);
    if (!error)
      return connected;
    ::close(socket);
  }
  if (error == std::errc::timed_out)
    return std::unexpected{node_error{node_errc::timed_out, "nobody accepted at " + text + " in time"}};
  return std::unexpected{node_error{node_errc::cannot_connect, "cannot connect to " + text + ": " + error.message()}};
}

} // namespace troupe::internal
