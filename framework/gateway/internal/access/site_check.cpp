#include <troupe/framework/gateway/internal/access/site_check.hpp>

#include <algorithm>
#include <utility>

namespace troupe::web {

namespace {

constexpr std::uint16_t http_port = 80;
constexpr std::uint16_t https_port = 443;

std::string in_small_letters(std::string_view text) {
  std::string made(text);
  std::ranges::transform(made, made.begin(),
                         [](char each) { return each >= 'A' && each <= 'Z' ? static_cast<char>(each + 32) : each; });
  return made;
}

/// "::1" has colons of its own, "[::1]:80" has a port.
bool has_port(std::string_view host) {
  const auto colon = host.rfind(':');
  if (colon == std::string_view::npos)
    return false;
  const auto bracket = host.rfind(']');
  return bracket != std::string_view::npos ? bracket < colon : host.find(':') == colon;
}

} // namespace

site_check::site_check(const std::string& listening, std::uint16_t port, bool is_tls,
                       const std::vector<std::string>& hosts, const std::vector<std::string>& origins)
    : port_(port), is_tls_(is_tls), origins_(origins.begin(), origins.end()) {
  const bool is_any = listening == "0.0.0.0" || listening == "::";
  if (!is_any)
    add_host(listening.find(':') != std::string::npos ? "[" + listening + "]" : listening);
  if (is_any || listening.starts_with("127.") || listening == "::1")
    for (const auto* const loopback : {"localhost", "127.0.0.1", "[::1]"})
      add_host(loopback);
  for (const auto& host : hosts)
    add_host(host);
}

void site_check::add_host(std::string host) {
  host = in_small_letters(host);
  if (!has_port(host))
    host += ":" + std::to_string(port_);
  const auto usual = ":" + std::to_string(is_tls_ ? https_port : http_port);
  if (host.ends_with(usual)) // Clients leave the usual port out.
    hosts_.insert(host.substr(0, host.size() - usual.size()));
  hosts_.insert(std::move(host));
}

bool site_check::is_own_host(std::string_view host) const {
  return hosts_.contains(in_small_letters(host));
}

bool site_check::is_named(std::string_view origin) const {
  return origins_.contains(origin);
}

bool site_check::may_use(std::string_view origin, std::string_view host) const {
  return is_named(origin) || origin == (is_tls_ ? "https://" : "http://") + std::string(host);
}

} // namespace troupe::web
