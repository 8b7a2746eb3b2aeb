// Which addresses a node tells the others, and by which one they reach it.
#pragma once

#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <troupe/framework/cluster/cluster_member.hpp>

namespace troupe::membership {

/// What tells processes that can reach each other over unix sockets: the same boot of the same host, the same user, and
/// the same namespaces of files and networks.
[[nodiscard]] std::string this_host();

/// The addresses that a node tells the others: `wanted`, or else those at which it listens. Fails with what to do if
/// there is none, or one cannot lead to a node from elsewhere: "tcp://0.0.0.0:4000".
[[nodiscard]] std::expected<std::vector<std::string>, std::string>
advertised_addresses(std::span<const std::string> wanted, std::span<const std::string> listening);

/// Whether the address means another process on each host: that of a unix socket, or of the loopback interface.
[[nodiscard]] bool is_within_host(std::string_view address);

/// The best address of `member` for a process of `host`: a unix socket if it runs there too, else TLS, else TCP;
/// nullopt if it has none that leads there.
[[nodiscard]] std::optional<std::string> best_address(const cluster_member& member, std::string_view host);

} // namespace troupe::membership
