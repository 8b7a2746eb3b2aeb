// The names of the sockets at which nodes answer queries of this host.
#pragma once

#include <cstdint>
#include <string>

namespace troupe::internal {

/// The common prefix of all such names of this user, without the '@'. After it come the process id, '-', and digits
/// that distinguish the process's nodes.
[[nodiscard]] std::string local_query_prefix();

/// Returns "unix://@...", a new address at each call.
[[nodiscard]] std::string fresh_local_query_address();

} // namespace troupe::internal
