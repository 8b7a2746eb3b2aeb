// Which names a client may use for the gateway, and which web pages may use it.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::web {

/// Checks the headers Host and Origin.
///
/// Threads: any.
class site_check {
public:
  /// `listening`: the address without its port, such as "127.0.0.1" or "::1".
  site_check(const std::string& listening, std::uint16_t port, bool is_tls, const std::vector<std::string>& hosts,
             const std::vector<std::string>& origins);

  /// Whether the header Host names this gateway.
  [[nodiscard]] bool is_own_host(std::string_view host) const;
  /// Whether a page of this origin may use the gateway, if the request has this header Host.
  [[nodiscard]] bool may_use(std::string_view origin, std::string_view host) const;
  /// Whether the origin is one that the program has named.
  [[nodiscard]] bool is_named(std::string_view origin) const;

private:
  void add_host(std::string host);

  const std::uint16_t port_;
  const bool is_tls_;
  std::set<std::string, std::less<>> hosts_; // In small letters, with port.
  std::set<std::string, std::less<>> origins_;
};

} // namespace troupe::web
