// Addresses of kind dns://NAME[:PORT].
#pragma once

#include <troupe/framework/cluster/directory_errc.hpp>

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

namespace troupe::cluster_directories {

/// What stands behind "dns://" or "dns+tls://".
struct dns_address {
  std::string name;
  std::uint16_t port = 0; // 0: the SRV records of the name have the ports.
};

/// Fails with `bad_address`.
[[nodiscard]] std::expected<dns_address, directory_error> read_dns_address(std::string_view text);

} // namespace troupe::cluster_directories
