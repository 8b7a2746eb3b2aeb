#include <troupe/framework/gateway/internal/server/gateway_core.hpp>

#include <charconv>
#include <chrono>
#include <csignal>
#include <system_error>
#include <utility>

#include <sys/resource.h>
#include <sys/stat.h>

#include <troupe/framework/gateway/internal/server/http_session.hpp>
#include <troupe/framework/log.hpp>

namespace troupe::web {

namespace {

struct listening_place {
  std::string host;
  std::uint16_t port = 0;
};

std::unexpected<node_error> failed_to_start(node_errc code, std::string text) {
  return std::unexpected{node_error{code, "gateway: " + std::move(text)}};
}

/// Reads "127.0.0.1:80", "[::1]:80", "localhost:80" or "80".
std::optional<listening_place> read_place(std::string_view text) {
  listening_place place{.host = "127.0.0.1"};
  auto port = text;
  if (const auto colon = text.rfind(':'); colon != std::string_view::npos) {
    auto host = text.substr(0, colon);
    port = text.substr(colon + 1);
    if (host.starts_with('[') && host.ends_with(']'))
      host = host.substr(1, host.size() - 2);
    place.host = host == "localhost" ? "127.0.0.1" : std::string(host);
  }
  const auto [end, failure] = std::from_chars(port.data(), port.data() + port.size(), place.port);
  if (failure != std::errc() || end != port.data() + port.size() || place.host.empty())
    return std::nullopt;
  return place;
}

/// Signals are for the program's own threads.
class blocked_signals {
public:
  blocked_signals() {
    ::sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  blocked_signals(const blocked_signals&) = delete;
  blocked_signals& operator=(const blocked_signals&) = delete;
  ~blocked_signals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

private:
  ::sigset_t before_{};
};

} // namespace

gateway_core::gateway_core(node& of, gateway_options options, token_book tokens)
    : home_(of),
      options_(std::move(options)),
      doorkeeper_(std::move(tokens), {.guesses_per_minute = options_.guesses_per_minute,
                                      .requests_per_second = options_.requests_per_second,
                                      .requests_burst = options_.requests_burst}),
      unconsumed_(options_.unconsumed_bytes_max),
      objects_({.objects_per_token_max = options_.objects_per_token_max, .lifetime = options_.object_lifetime}),
      messages_(of.types(), of.families(), options_.depth_max),
      connections_(
          {.connections_max = options_.connections_max, .per_address_max = options_.connections_per_address_max}),
      unread_(options_.unread_bytes_max) {}

gateway_core::~gateway_core() {
  stop();
}

std::expected<void, node_error> gateway_core::start() {
  if (auto loaded = load_certificate(); !loaded)
    return loaded;
  if (auto listening = listen(); !listening)
    return listening;
  check_descriptors();
  net::co_spawn(
      loop_, [this]() -> net::awaitable<void> { co_await accept_all(); }, net::detached);
  net::co_spawn(
      loop_, [this]() -> net::awaitable<void> { co_await expire_objects(); }, net::detached);
  const blocked_signals during_start;
  for (std::size_t i = 0; i < options_.threads; ++i)
    threads_.emplace_back([this] { loop_.run(); });
  return {};
}

std::size_t gateway_core::drain(std::chrono::steady_clock::time_point limit) {
  is_draining_ = true;
  net::post(loop_, [this] { acceptor_->close(); });
  connections_.close_idle();
  return connections_.wait_until_empty(limit);
}

void gateway_core::stop() {
  loop_.stop();
  for (auto& thread : threads_)
    thread.join();
  threads_.clear();
  for (auto* const pool : {&workers_, &readers_}) {
    pool->stop();
    pool->join();
  }
  if (view_thread_) {
    view_thread_->stop();
    view_thread_->join();
  }
  door_->close();
}

std::expected<void, node_error> gateway_core::load_certificate() {
  if (options_.certificate_file.empty() && options_.key_file.empty())
    return {};
  struct stat about {};
  if (::stat(options_.key_file.c_str(), &about) == 0 && (about.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    return failed_to_start(node_errc::bad_option,
                           "other users have access to the key file \"" + options_.key_file + "\": run chmod 600");
  tls_.emplace(net::ssl::context::tls_server);
  beast::error_code failure;
  tls_->set_options(net::ssl::context::default_workarounds | net::ssl::context::no_sslv2 | net::ssl::context::no_sslv3
                        | net::ssl::context::no_tlsv1 | net::ssl::context::no_tlsv1_1,
                    failure);
  if (!failure)
    tls_->use_certificate_chain_file(options_.certificate_file, failure);
  if (failure)
    return failed_to_start(node_errc::bad_option,
                           "certificate_file \"" + options_.certificate_file + "\": " + failure.message());
  tls_->use_private_key_file(options_.key_file, net::ssl::context::pem, failure);
  if (failure)
    return failed_to_start(node_errc::bad_option, "key_file \"" + options_.key_file + "\": " + failure.message());
  return {};
}

std::expected<void, node_error> gateway_core::listen() {
  const auto place = read_place(options_.address);
  beast::error_code failure;
  const auto address = place ? net::ip::make_address(place->host, failure) : net::ip::address();
  if (!place || failure)
    return failed_to_start(node_errc::bad_address,
                           "\"" + options_.address + "\" is no address; write 127.0.0.1:8080 or [::1]:8080");
  const net::ip::tcp::endpoint endpoint{address, place->port};
  acceptor_.emplace(loop_);
  acceptor_->open(endpoint.protocol(), failure);
  if (!failure)
    acceptor_->set_option(net::socket_base::reuse_address(true), failure);
  if (!failure)
    acceptor_->bind(endpoint, failure);
  if (!failure)
    acceptor_->listen(net::socket_base::max_listen_connections, failure);
  if (failure)
    return failed_to_start(node_errc::cannot_connect,
                           "cannot listen at " + options_.address + ": " + failure.message());
  port_ = acceptor_->local_endpoint(failure).port();
  const auto host = address.is_v6() ? "[" + place->host + "]" : place->host;
  url_ = (tls_ ? "https://" : "http://") + host + ":" + std::to_string(port_);
  sites_.emplace(place->host, port_, tls_.has_value(), options_.hosts, options_.origins);
  if (!tls_ && !address.is_loopback())
    write_log_line(log_level::warning, "gateway: tokens travel in the clear at " + url_
                                           + "; set certificate_file, or use it in a trusted network only");
  return {};
}

net::any_io_executor gateway_core::executor_for_connection() {
  if (options_.threads > 1)
    return net::make_strand(loop_);
  return loop_.get_executor();
}

void gateway_core::check_descriptors() const {
  constexpr std::size_t others = 32; // What the node and its store have open.
  ::rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < options_.connections_max + others)
    write_log_line(log_level::warning, "gateway: this process may open " + std::to_string(limit.rlim_cur)
                                           + " files, too few for " + std::to_string(options_.connections_max)
                                           + " connections; raise the limit (ulimit -n), or lower connections_max");
}

net::awaitable<void> gateway_core::accept_all() {
  constexpr std::chrono::milliseconds closing{1}; // Until a connection that makes room is closed.
  constexpr std::chrono::milliseconds pause{100};
  for (;;) {
    beast::error_code failure;
    auto socket = co_await acceptor_->async_accept(executor_for_connection(), into(failure));
    if (!failure) {
      begin(std::move(socket));
      continue;
    }
    if (failure == net::error::operation_aborted || failure == net::error::bad_descriptor)
      co_return;
    const bool has_no_descriptor =
        failure == net::error::no_descriptors || failure == beast::errc::too_many_files_open_in_system;
    net::steady_timer timer{loop_, has_no_descriptor && free_descriptor() ? closing : pause};
    co_await timer.async_wait(into(failure));
  }
}

bool gateway_core::free_descriptor() {
  constexpr std::chrono::minutes silence{1};
  const auto now = connection_table::clock::now();
  if (!told_of_descriptors_ || now - *told_of_descriptors_ >= silence) {
    told_of_descriptors_ = now;
    write_log_line(log_level::warning, "gateway: this process can open no more files, with "
                                           + std::to_string(connections_.open())
                                           + " connections open; idle ones are closed for new ones");
  }
  return connections_.close_longest_idle();
}

void gateway_core::begin(net::ip::tcp::socket socket) {
  if (is_draining())
    return;
  beast::error_code ignored;
  socket.set_option(net::ip::tcp::no_delay(true), ignored);
  serve_http(*this, std::move(socket), tls_ ? &*tls_ : nullptr);
}

net::awaitable<void> gateway_core::expire_objects() {
  net::steady_timer timer{loop_};
  for (;;) {
    beast::error_code failure;
    timer.expires_after(std::chrono::seconds(1));
    co_await timer.async_wait(into(failure));
    if (failure)
      co_return;
    objects_.expire(object_shelf::clock::now());
  }
}

void gateway_core::serve_view(std::shared_ptr<view_source> source) {
  auto made = std::make_shared<view_desk>(std::move(source));
  const std::lock_guard guard{view_mutex_};
  if (!view_thread_) {
    const blocked_signals during_start;
    view_thread_.emplace(1);
  }
  view_ = std::move(made);
}

std::shared_ptr<view_desk> gateway_core::view() const {
  const std::lock_guard guard{view_mutex_};
  return view_;
}

gateway_stats gateway_core::stats() const {
  const auto objects = objects_.count();
  return {.connections_open = connections_.open(),
          .connections = connections_.accepted(),
          .connections_shed = connections_.shed(),
          .connections_cut = unread_.cut(),
          .unread_bytes = unread_.bytes(),
          .sockets_open = sockets_.load(std::memory_order_relaxed),
          .requests = requests_.load(std::memory_order_relaxed),
          .refused = refused_.load(std::memory_order_relaxed),
          .wrong_tokens = doorkeeper_.wrong_tokens(),
          .objects = objects.objects,
          .client_object_bytes = objects.client_bytes};
}

void gateway_core::note_answer(unsigned status) noexcept {
  requests_.fetch_add(1, std::memory_order_relaxed);
  if (status >= 400)
    refused_.fetch_add(1, std::memory_order_relaxed);
}

void gateway_core::note_socket(bool is_open) noexcept {
  if (is_open)
    sockets_.fetch_add(1, std::memory_order_relaxed);
  else
    sockets_.fetch_sub(1, std::memory_order_relaxed);
}

} // namespace troupe::web
