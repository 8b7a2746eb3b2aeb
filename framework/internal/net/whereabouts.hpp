// The addresses of nodes: which of them links tell, and which may be dialed. Pure. The rules:
// framework/handle-protocol.md.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <troupe/framework/internal/net/address.hpp>

namespace troupe::internal {

/// Bounds on one node's addresses in a peer's message.
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

/// Selects the addresses of a node that the peer of a link can use. Addresses within this host are selected only if the
/// peer is on this host. For a node that listens at all addresses of its host, the result has the address that the link
/// uses, then the `others`.
[[nodiscard]] std::vector<std::string> tellable(std::span<const std::string> addresses, bool is_on_this_host,
                                                const link_place& link, std::span<const std::string> others);
/// The numeric addresses at which other hosts may reach this host, from the kernel.
[[nodiscard]] std::vector<std::string> addresses_of_this_host();

/// Selects the addresses from a link's peer that may be dialed: IP addresses, or names whose certificate is checked.
/// Addresses within this host are selected only if the peer is there. Nothing less secure than that link is selected.
[[nodiscard]] std::vector<std::string> dialable(std::span<const std::string> addresses, const link_place& link);

} // namespace troupe::internal
