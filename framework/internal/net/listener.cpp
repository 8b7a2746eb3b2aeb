#include <troupe/framework/internal/net/listener.hpp>

#include <troupe/framework/internal/words/failing.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <asio/ip/v6_only.hpp>

#include <troupe/framework/internal/net/own_sockets.hpp>
#include <troupe/framework/internal/words/log.hpp>

namespace troupe::internal {

namespace {

constexpr std::chrono::milliseconds pause_without_descriptors{100};
// While other threads close connections to make room.
constexpr std::chrono::milliseconds pause_for_room{1};

// The number of waiting connections that are closed at once if there is no descriptor left.
constexpr int turned_away_max = 64;

bool has_file(const address& at) {
  return at.kind == transport_kind::unix_socket && at.path[0] == '/';
}

/// Whether this process or the host has no descriptor left.
bool is_exhausted(std::error_code error) {
  // Compares numbers: Asio's category does not map them to std::errc.
  return error.value() == EMFILE || error.value() == ENFILE;
}

int open_spare() {
  return ::open("/dev/null", O_RDONLY | O_CLOEXEC);
}

} // namespace

listener::listener(asio::io_context& io, const address& at, accepted on_accept, make_room on_exhausted,
                   may_come has_room)
    : text_(at.text),
      on_accept_(std::move(on_accept)),
      on_exhausted_(std::move(on_exhausted)),
      has_room_(std::move(has_room)),
      acceptor_(io),
      pause_(io),
      spare_(open_spare()) {}

listener::~listener() {
  close();
}

std::expected<std::shared_ptr<listener>, node_error> listener::open(asio::io_context& io, const address& at,
                                                                    const stream_endpoint& endpoint, accepted on_accept,
                                                                    make_room on_exhausted, may_come has_room) {
  auto result = std::shared_ptr<listener>{
      new listener{io, at, std::move(on_accept), std::move(on_exhausted), std::move(has_room)}};
  auto error = result->make_socket(endpoint);
  if (error)
    return fail(node_errc::bad_address, "cannot listen at " + at.text + ": " + error.message());
  if (has_file(at)) {
    if (auto listens = result->socket_file_.listen(result->acceptor_.native_handle(), at, endpoint); !listens)
      return std::unexpected{std::move(listens).error()};
  } else {
    error = result->bind(at, endpoint);
  }
  if (error == asio::error::address_in_use)
    return fail(node_errc::cannot_connect, "cannot listen at " + at.text + ": the address is already in use");
  if (error)
    return fail(node_errc::bad_address, "cannot listen at " + at.text + ": " + error.message());
  if (at.kind != transport_kind::unix_socket)
    result->text_ = internal::with_port(at, result->port());
  result->refusals_ = std::make_shared<refusal_log>(io, result->text_);
  result->accept_next();
  return result;
}

std::error_code listener::make_socket(const stream_endpoint& endpoint) {
  std::error_code error;
  // acceptor_.open() would let programs started by this process inherit the descriptor.
  const auto made = make_own_socket(endpoint.protocol().family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
                                    endpoint.protocol().protocol());
  if (made < 0)
    return {errno, asio::error::get_system_category()};
  acceptor_.assign(endpoint.protocol(), made, error);
  if (error)
    ::close(made);
  protocol_ = endpoint.protocol();
  return error;
}

std::error_code listener::bind(const address& at, const stream_endpoint& endpoint) {
  std::error_code error;
  if (endpoint.data()->sa_family == AF_INET6)
    acceptor_.set_option(asio::ip::v6_only{true}, error); // [::] and 0.0.0.0 are separate addresses.
  if (at.kind != transport_kind::unix_socket)
    acceptor_.set_option(asio::socket_base::reuse_address{true}, error); // Earlier connections may linger.
  acceptor_.bind(endpoint, error);
  if (!error)
    acceptor_.listen(asio::socket_base::max_listen_connections, error);
  return error;
}

std::uint16_t listener::port() const {
  return port_of(acceptor_.local_endpoint());
}

void listener::accept_next() {
  acceptor_.async_wait(asio::socket_base::wait_read, [weak = weak_from_this()](std::error_code error) {
    auto self = weak.lock();
    if (!self || !self->acceptor_.is_open())
      return;
    if (!error && self->has_room_ && !self->has_room_())
      return self->accept_after(pause_for_room);
    if (!error)
      error = self->accept_one();
    const auto makes_room = is_exhausted(error) && self->on_exhausted_();
    if (makes_room)
      error = self->accept_one();
    if (!error || error == asio::error::connection_aborted || error == asio::error::would_block) {
      if (self->acceptor_.is_open())
        self->accept_next();
      return;
    }
    if (makes_room && is_exhausted(error))
      return self->accept_after(pause_for_room);
    // An immediate retry would fail in the same way.
    self->refusals_->note(log_level::warning,
                          "a connection at " + self->text_ + " was not accepted: " + error.message());
    if (is_exhausted(error))
      self->turn_away();
    self->accept_after(pause_without_descriptors);
  });
}

void listener::accept_after(std::chrono::milliseconds pause) {
  pause_.expires_after(pause);
  pause_.async_wait([weak = weak_from_this()](std::error_code cancelled) {
    auto self = weak.lock();
    if (self && !cancelled && self->acceptor_.is_open())
      self->accept_next();
  });
}

/// Avoids that programs started by this process inherit the descriptor, like make_socket().
std::error_code listener::accept_one() {
  const auto guest = accept_own_socket(acceptor_.native_handle());
  if (guest < 0)
    return {errno, asio::error::get_system_category()};
  stream_socket socket{acceptor_.get_executor()};
  std::error_code error;
  socket.assign(protocol_, guest, error);
  if (error)
    ::close(guest);
  else
    on_accept_(std::move(socket), refusals_);
  return error;
}

/// Closes waiting connections, because without a descriptor they would wait in vain.
void listener::turn_away() {
  for (int count = 0; count < turned_away_max; ++count) {
    if (spare_ >= 0)
      ::close(std::exchange(spare_, -1));
    auto guest = ::accept4(acceptor_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC);
    if (guest >= 0)
      ::close(guest);
    spare_ = open_spare();
    if (guest < 0 || spare_ < 0)
      return;
  }
}

void listener::close() {
  if (spare_ >= 0)
    ::close(std::exchange(spare_, -1));
  if (!acceptor_.is_open())
    return;
  socket_file_.remove();
  std::error_code ignored;
  acceptor_.close(ignored);
  pause_.cancel();
}

// -- a name with several addresses

namespace {

// The number of system-chosen ports to try. A port that is free at one address may be in use at another one.
constexpr int ports_tried_max = 16;

stream_endpoint with_port(const stream_endpoint& of, std::uint16_t port) {
  auto result = of;
  static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));
  const auto in_order = htons(port);
  std::memcpy(reinterpret_cast<std::byte*>(result.data()) + offsetof(sockaddr_in, sin_port), &in_order,
              sizeof(in_order));
  return result;
}

std::string number_of(const stream_endpoint& endpoint) {
  std::array<char, NI_MAXHOST> host{};
  const auto failed = ::getnameinfo(endpoint.data(), static_cast<socklen_t>(endpoint.size()), host.data(), host.size(),
                                    nullptr, 0, NI_NUMERICHOST);
  return failed != 0 ? "one of its addresses" : host.data();
}

} // namespace

std::expected<std::vector<std::shared_ptr<listener>>, node_error>
listen_at_all(const address& at, std::span<const stream_endpoint> endpoints, const listener_maker& open) {
  std::vector<stream_endpoint> each;
  for (const auto& endpoint : endpoints)
    if (std::ranges::find(each, endpoint) == each.end())
      each.push_back(endpoint);
  const auto chooses_port = at.kind != transport_kind::unix_socket && at.port == 0;
  for (int tries = 0;; ++tries) {
    std::vector<std::shared_ptr<listener>> opened;
    std::optional<node_error> missing, taken;
    for (const auto& endpoint : each) {
      const auto one =
          opened.empty() || !chooses_port ? open(at, endpoint) : open(at, with_port(endpoint, opened.front()->port()));
      if (one) {
        opened.push_back(*one);
        continue;
      }
      const auto& error = one.error();
      auto& noted = error.code() == node_errc::cannot_connect ? taken : missing;
      noted = each.size() == 1 ? error : node_error{error.code(), error.message() + " (" + number_of(endpoint) + ')'};
    }
    if (taken && chooses_port && !opened.empty() && tries < ports_tried_max)
      continue;
    if (taken)
      return std::unexpected{*std::move(taken)};
    if (opened.empty())
      return std::unexpected{*std::move(missing)};
    if (missing)
      log(log_level::warning, "not listening at every address of " + at.text + ": " + missing->message());
    return opened;
  }
}

} // namespace troupe::internal
