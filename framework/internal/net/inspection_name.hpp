// The names of the sockets at which nodes answer inspection.
#pragma once

#include <cstdint>
#include <string>

namespace troupe::internal {

/// The common prefix of all inspection names of this user, without the '@'. The process id, '-', and digits that
/// distinguish the process's nodes follow.
[[nodiscard]] std::string inspection_prefix();

/// Returns "unix://@...", a new address at each call.
[[nodiscard]] std::string fresh_inspection_address();

} // namespace troupe::internal
