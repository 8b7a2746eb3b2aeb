#include <troupe/framework/internal/net/dialing.hpp>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include <sys/socket.h>
#include <unistd.h>

#include <troupe/framework/internal/net/own_sockets.hpp>
#include <troupe/framework/internal/threads/io_timer.hpp>

namespace troupe::internal {

namespace {

std::error_code last_error() {
  return {errno, std::system_category()};
}

/// Requires: connecting is no longer under way.
std::error_code outcome_of(int socket) {
  int error = 0;
  socklen_t size = sizeof(error);
  if (::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
    return last_error();
  return {error, std::system_category()};
}

node_error why_not(const std::string& text, std::error_code error) {
  if (error == std::errc::timed_out)
    return {node_errc::timed_out, "no node accepted the connection at " + text + " in time"};
  return {node_errc::cannot_connect, "cannot connect to " + text + ": " + error.message()};
}

} // namespace

std::chrono::milliseconds time_until(dial_deadline then) {
  auto left = std::chrono::ceil<std::chrono::milliseconds>(then - std::chrono::steady_clock::now());
  return std::max(left, std::chrono::milliseconds{0});
}

connect_step step_of(int error, int family) {
  if (error == 0)
    return connect_step::connected;
  if (error == EINPROGRESS)
    return connect_step::under_way;
  return error == EAGAIN && family == AF_UNIX ? connect_step::listener_is_full : connect_step::failed;
}

dialing::dialing(asio::io_context& io, std::string text, std::vector<stream_endpoint> endpoints,
                 std::function<void(result)> done)
    : io_(io), text_(std::move(text)), endpoints_(std::move(endpoints)), done_(std::move(done)) {}

std::shared_ptr<dialing> dialing::start(asio::io_context& io, std::string text, std::vector<stream_endpoint> endpoints,
                                        dial_deadline until, std::function<void(result)> done) {
  std::shared_ptr<dialing> made{new dialing{io, std::move(text), std::move(endpoints), std::move(done)}};
  made->limit_.expires_at(until);
  made->limit_.async_wait([weak = made->weak_from_this()](std::error_code cancelled) {
    if (auto self = weak.lock(); self && !cancelled)
      self->give_up(std::make_error_code(std::errc::timed_out));
  });
  post_to(io, [weak = made->weak_from_this()] {
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
    const int error = ::connect(socket, to.data(), static_cast<socklen_t>(to.size())) == 0 ? 0 : errno;
    switch (step_of(error, to.data()->sa_family)) {
    case connect_step::connected:
      return on_connected();
    case connect_step::under_way:
      return await_connection();
    case connect_step::listener_is_full:
      return try_again_later();
    case connect_step::failed:
      last_error_ = {error, std::system_category()};
      std::error_code ignored;
      socket_.close(ignored);
    }
  }
}

void dialing::await_connection() {
  socket_.async_wait(stream_socket::wait_write, [weak = weak_from_this()](std::error_code cancelled) {
    if (auto self = weak.lock(); self && !cancelled)
      self->on_writable();
  });
}

/// Waits a short time at first, because most listeners are busy only briefly.
void dialing::try_again_later() {
  constexpr std::chrono::milliseconds longest_pause{10};
  std::error_code ignored;
  socket_.close(ignored);
  --next_;
  again_.expires_after(pause_);
  pause_ = std::min(2 * pause_, longest_pause);
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
