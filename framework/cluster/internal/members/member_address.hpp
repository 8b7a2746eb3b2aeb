// The addresses of members, as a list of them gives them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace troupe::cluster_directories {

/// How many members a read-only directory may find.
inline constexpr std::size_t members_max = 1'024;

/// Why the text is not the address of a member; empty if it is one: tcp://HOST:PORT, tls://HOST:PORT, unix:///PATH,
/// unix://@NAME, the last two also with shm, or inproc://NAME.
[[nodiscard]] std::string problem_of_address(std::string_view text);

/// Whether a name, an IPv4 address or an IPv6 address with brackets can be the host of an address.
[[nodiscard]] bool is_possible_host(std::string_view host);

} // namespace troupe::cluster_directories
