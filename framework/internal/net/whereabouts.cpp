#include <troupe/framework/internal/net/whereabouts.hpp>

#include <algorithm>
#include <utility>

#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace troupe::internal {

namespace {

bool is_literal_address(std::string_view host) {
  return host.find(':') != std::string_view::npos
         || std::ranges::all_of(host, [](char each) { return each == '.' || (each >= '0' && each <= '9'); });
}

bool is_every_address(std::string_view host) {
  return host == "0.0.0.0" || host == "::";
}

std::string address_at(const address& at, const std::string& host) {
  const auto is_v6 = host.find(':') != std::string::npos;
  return std::string{name_of(at.kind)} + "://" + (is_v6 ? '[' + host + ']' : host) + ':' + std::to_string(at.port);
}

} // namespace

bool is_loopback(std::string_view host) {
  return host.starts_with("127.") || host == "::1" || host == "localhost";
}

bool link_place::is_within_host() const {
  return stays_on_host(kind) || is_loopback(near_host);
}

std::vector<std::string> tellable(std::span<const std::string> addresses, bool is_on_this_host, const link_place& link,
                                  std::span<const std::string> others) {
  std::vector<std::string> result;
  const auto tell = [&](std::string text) {
    if (result.size() < told_addresses_max && text.size() <= told_address_bytes_max
        && std::ranges::find(result, text) == result.end())
      result.push_back(std::move(text));
  };
  for (const auto& text : addresses) {
    const auto at = parse_address(text);
    if (!at || at->kind == transport_kind::inproc)
      continue;
    const auto is_every = is_every_address(at->host);
    const auto is_local = at->kind == transport_kind::unix_socket || is_loopback(at->host);
    if ((is_local || is_every) && !is_on_this_host)
      continue;
    if (link.is_within_host() || (!is_local && !is_every)) {
      tell(text);
    } else if (is_every) {
      const auto is_v4_only = at->host == "0.0.0.0";
      tell(address_at(*at, link.near_host));
      for (const auto& other : others)
        if (!is_v4_only || other.find(':') == std::string::npos)
          tell(address_at(*at, other));
    }
  }
  return result;
}

std::vector<std::string> addresses_of_this_host() {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0)
    return {};
  std::vector<std::string> result;
  for (const auto* each = all; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || (each->ifa_flags & IFF_UP) == 0 || (each->ifa_flags & IFF_LOOPBACK) != 0)
      continue;
    const auto family = each->ifa_addr->sa_family;
    char text[NI_MAXHOST] = {};
    if ((family == AF_INET || family == AF_INET6)
        && ::getnameinfo(each->ifa_addr, family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6), text,
                         sizeof(text), nullptr, 0, NI_NUMERICHOST)
               == 0
        && std::string_view{text}.find('%') == std::string_view::npos) // Not link-local addresses.
      result.emplace_back(text);
  }
  ::freeifaddrs(all);
  return result;
}

std::vector<std::string> dialable(std::span<const std::string> addresses, const link_place& link) {
  std::vector<std::string> result;
  for (const auto& text : addresses) {
    const auto at = parse_address(text);
    if (!at || at->kind == transport_kind::inproc || (at->port == 0 && at->kind != transport_kind::unix_socket)
        || (link.kind == transport_kind::tls && at->kind != transport_kind::tls))
      continue;
    const auto is_every = is_every_address(at->host);
    const auto is_local = at->kind == transport_kind::unix_socket || is_loopback(at->host) || is_every;
    if (is_local && !link.is_within_host())
      continue;
    if (at->kind == transport_kind::tcp && !is_literal_address(at->host)) // Without a certificate, any owner of the
                                                                          // name could answer.
      continue;
    result.push_back(is_every ? address_at(*at, at->host == "::" ? "::1" : "127.0.0.1") : text);
  }
  return result;
}

} // namespace troupe::internal
