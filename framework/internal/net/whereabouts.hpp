// Where nodes listen, as links tell it and as it may be dialed. Pure. The rules: framework/handle-protocol.md.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <troupe/framework/internal/net/address.hpp>

namespace troupe::internal {

/// What one node's addresses may be, in the words of a peer.
inline constexpr std::size_t told_addresses_max = 8;
inline constexpr std::size_t told_address_bytes_max = 256;

/// 127.0.0.0/8, ::1 and "localhost".
[[nodiscard]] bool is_loopback(std::string_view host);

/// One end of a link.
struct link_place {
  transport_kind kind = transport_kind::unix_socket;
  std::string near_host; // transport::near_host()

  [[nodiscard]] bool is_within_host() const; // The peer is on this host.
};

/// Those of a node's addresses that the peer of a link can use: of this host only within this host. Where a node
/// listens at all addresses of this host, the peer is told the one that the link uses, and then the `others` of this
/// host.
[[nodiscard]] std::vector<std::string> tellable(std::span<const std::string> addresses, bool is_on_this_host,
                                                const link_place& link, std::span<const std::string> others);
/// What other hosts may reach this one by, in numbers; asks the kernel.
[[nodiscard]] std::vector<std::string> addresses_of_this_host();

/// Those that may be dialed of what the peer of a link has said: IP addresses, or names whose certificate is checked;
/// within this host only where the peer is; nothing less secure than that link.
[[nodiscard]] std::vector<std::string> dialable(std::span<const std::string> addresses, const link_place& link);

} // namespace troupe::internal
