#include <troupe/framework/prometheus/metrics_endpoint.hpp>

#include <cerrno>
#include <charconv>
#include <exception>
#include <mutex>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <prometheus/exposer.h>

#include <troupe/base/text.hpp>

namespace troupe {

namespace {

/// An IP address and a port, the only form passed to the library. The library's other forms (several addresses, all of
/// the host's, redirections) are refused.
struct endpoint_address {
  std::string host; // Without brackets.
  bool is_v6 = false;
  std::uint16_t port = 0;

  [[nodiscard]] std::string text() const { return (is_v6 ? '[' + host + ']' : host) + ':' + std::to_string(port); }
};

std::expected<endpoint_address, node_error> parse(std::string_view text) {
  const auto refused = [&](std::string_view why) {
    return std::unexpected{node_error{node_errc::bad_option, "the metrics address \"" + one_line(text, 128) + "\" "
                                                                 + std::string{why}
                                                                 + "; write 127.0.0.1:9464 or [::1]:9464"}};
  };
  endpoint_address read;
  const auto colon = text.rfind(':');
  const auto port = colon == std::string_view::npos ? text : text.substr(colon + 1);
  auto host = colon == std::string_view::npos ? std::string_view{"127.0.0.1"} : text.substr(0, colon);
  const auto [end, failed] = std::from_chars(port.data(), port.data() + port.size(), read.port);
  if (port.empty() || failed != std::errc{} || end != port.data() + port.size())
    return refused("has no port from 0 to 65535");
  if (host == "localhost")
    host = "127.0.0.1";
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    read.is_v6 = true;
    host = host.substr(1, host.size() - 2);
  }
  read.host = host;
  in6_addr bytes; // Large enough for both kinds.
  if (::inet_pton(read.is_v6 ? AF_INET6 : AF_INET, read.host.c_str(), &bytes) != 1)
    return refused("does not begin with an IP address");
  return read;
}

/// Why listening at the address fails; empty if it works. The library does not give the reason.
std::string obstacle(const endpoint_address& at) {
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(at.port);
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(at.port);
  ::inet_pton(at.is_v6 ? AF_INET6 : AF_INET, at.host.c_str(),
              at.is_v6 ? static_cast<void*>(&v6.sin6_addr) : static_cast<void*>(&v4.sin_addr));
  const auto* where = at.is_v6 ? reinterpret_cast<const sockaddr*>(&v6) : reinterpret_cast<const sockaddr*>(&v4);
  const auto tried = ::socket(where->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (tried < 0)
    return std::system_category().message(errno);
  const int yes = 1;
  ::setsockopt(tried, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  std::string reason;
  if (::bind(tried, where, at.is_v6 ? sizeof v6 : sizeof v4) != 0 || ::listen(tried, 1) != 0)
    reason = std::system_category().message(errno);
  ::close(tried);
  return reason;
}

} // namespace

struct metrics_endpoint::serving {
  // The exposer holds them weakly.
  std::shared_ptr<prometheus::Collectable> collector;
  std::mutex mutex;
  std::vector<std::shared_ptr<prometheus::Collectable>> added; // Guarded by mutex.

  std::unique_ptr<prometheus::Exposer> exposer;
  std::uint16_t port = 0;
  std::string url;
};

std::expected<metrics_endpoint, node_error> metrics_endpoint::open(const node& of, const metrics_options& options) {
  auto at = parse(options.address);
  if (!at)
    return std::unexpected{std::move(at).error()};
  const auto refused = [&](const std::string& why) {
    return std::unexpected{node_error{node_errc::cannot_connect, "metrics cannot be served at " + at->text() + ": "
                                                                     + why + "; choose another port, or 0 for any"}};
  };
  if (auto reason = obstacle(*at); !reason.empty())
    return refused(reason);
  auto made = std::make_unique<serving>();
  made->collector = metrics_of(of, options);
  try {
    made->exposer = std::make_unique<prometheus::Exposer>(
        std::vector<std::string>{"listening_ports", at->text(), "num_threads", "8", "request_timeout_ms", "2000"});
    made->exposer->RegisterCollectable(made->collector);
    const auto ports = made->exposer->GetListeningPorts();
    if (ports.empty())
      return refused("the server has opened no socket");
    at->port = made->port = static_cast<std::uint16_t>(ports.front());
  } catch (const std::exception& failure) {
    return refused(std::string{exception_text(failure)});
  }
  made->url = "http://" + at->text() + "/metrics";
  return metrics_endpoint{std::move(made)};
}

metrics_endpoint::metrics_endpoint(std::unique_ptr<serving> what) : serving_(std::move(what)) {}
metrics_endpoint::metrics_endpoint(metrics_endpoint&&) noexcept = default;
metrics_endpoint& metrics_endpoint::operator=(metrics_endpoint&&) noexcept = default;
metrics_endpoint::~metrics_endpoint() = default;

void metrics_endpoint::add(std::shared_ptr<prometheus::Collectable> more) {
  {
    const std::lock_guard guard{serving_->mutex};
    serving_->added.push_back(more);
  }
  serving_->exposer->RegisterCollectable(more);
}

std::uint16_t metrics_endpoint::port() const noexcept {
  return serving_->port;
}

const std::string& metrics_endpoint::url() const noexcept {
  return serving_->url;
}

} // namespace troupe
