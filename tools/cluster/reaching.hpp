// Tries to reach the addresses of members.
#pragma once

#include "cluster/diagnosis.hpp"
#include "nodes/client.hpp"

#include <chrono>
#include <string>
#include <string_view>

namespace troupe::tools {

/// Whether the address means another process on each host: that of a unix socket, or of the loopback interface.
[[nodiscard]] bool is_within_host(std::string_view address);

/// Tries every address of the member, and asks it for its account over the first link that proves its identity.
/// `is_known` says whether the client has credentials that the members should accept.
[[nodiscard]] examined_member examine(client& by, const cluster_member& member, bool is_known);

} // namespace troupe::tools
