#include <troupe/framework/internal/net/dial.hpp>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include <asio/post.hpp>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <troupe/framework/internal/net/own_sockets.hpp>

namespace troupe::internal {

namespace {

std::error_code last_error() {
  return {errno, std::system_category()};
}

/// Of a connection that is not under way any more.
std::error_code outcome_of(int socket) {
  int error = 0;
  socklen_t size = sizeof(error);
  if (::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
    return last_error();
  return {error, std::system_category()};
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
  return outcome_of(socket);
}

node_error why_not(const std::string& text, std::error_code error) {
  if (error == std::errc::timed_out)
    return {node_errc::timed_out, "nobody accepted at " + text + " in time"};
  return {node_errc::cannot_connect, "cannot connect to " + text + ": " + error.message()};
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
    int socket = make_own_socket(to.data()->sa_family, type, 0);
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
  return std::unexpected{why_not(text, error)};
}

dialing::dialing(asio::io_context& io, std::string text, std::vector<stream_endpoint> endpoints, deadline until,
                 std::function<void(result)> done)
    : io_(io), text_(std::move(text)), endpoints_(std::move(endpoints)), until_(until), done_(std::move(done)) {}

std::shared_ptr<dialing> dialing::start(asio::io_context& io, std::string text, std::vector<stream_endpoint> endpoints,
                                        deadline until, std::function<void(result)> done) {
  std::shared_ptr<dialing> made{new dialing{io, std::move(text), std::move(endpoints), until, std::move(done)}};
  made->limit_.expires_at(until);
  made->limit_.async_wait([weak = made->weak_from_this()](std::error_code cancelled) {
    if (auto self = weak.lock(); self && !cancelled)
      self->give_up(std::make_error_code(std::errc::timed_out));
  });
  asio::post(io, [weak = made->weak_from_this()] {
    if (auto self = weak.lock())
      self->try_next();
  });
  return made;
}

void dialing::cancel() {
  done_ = nullptr;
  limit_.cancel();
  again_.cancel();
  std::error_code ignored;
  socket_.close(ignored);
}

void dialing::try_next() {
  while (done_) {
    if (next_ == endpoints_.size()) {
      give_up(last_error_);
      return;
    }
    const auto& to = endpoints_[next_++];
    const int socket = make_own_socket(to.data()->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (socket < 0) {
      last_error_ = last_error();
      continue;
    }
    socket_.assign(to.protocol(), socket, last_error_);
    if (last_error_) {
      ::close(socket);
      continue;
    }
    if (::connect(socket, to.data(), static_cast<socklen_t>(to.size())) == 0) {
      on_connected();
      return;
    }
    last_error_ = last_error();
    if (last_error_ == std::errc::operation_in_progress || last_error_ == std::errc::resource_unavailable_try_again) {
      wait_for(to);
      return;
    }
    std::error_code ignored;
    socket_.close(ignored);
  }
}

/// A connection is under way, or the queue of a unix socket's listener is full, which nothing tells the end of.
void dialing::wait_for(const stream_endpoint& to) {
  constexpr std::chrono::milliseconds pause{10};
  if (to.data()->sa_family != AF_UNIX) {
    socket_.async_wait(stream_socket::wait_write, [weak = weak_from_this()](std::error_code cancelled) {
      if (auto self = weak.lock(); self && !cancelled)
        self->on_writable();
    });
    return;
  }
  std::error_code ignored;
  socket_.close(ignored);
  --next_;
  again_.expires_after(pause);
  again_.async_wait([weak = weak_from_this()](std::error_code cancelled) {
    if (auto self = weak.lock(); self && !cancelled)
      self->try_next();
  });
}

void dialing::on_writable() {
  if (!done_)
    return;
  last_error_ = outcome_of(socket_.native_handle());
  if (!last_error_) {
    on_connected();
    return;
  }
  std::error_code ignored;
  socket_.close(ignored);
  try_next();
}

void dialing::on_connected() {
  auto self = shared_from_this(); // `done` may drop the last reference.
  auto done = std::exchange(done_, nullptr);
  limit_.cancel();
  done(std::move(socket_));
}

void dialing::give_up(std::error_code reason) {
  auto self = shared_from_this();
  auto done = std::exchange(done_, nullptr);
  cancel();
  if (done)
    done(std::unexpected{why_not(text_, reason)});
}

} // namespace troupe::internal
