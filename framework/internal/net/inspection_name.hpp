// How the sockets are called at which nodes answer who looks.
#pragma once

#include <cstdint>
#include <string>

namespace troupe::internal {

/// All of this user's begin with it; then comes the process's number, '-', and digits that tell its nodes apart.
/// Without the '@'.
[[nodiscard]] std::string inspection_prefix();

/// "unix://@...", another one at each call.
[[nodiscard]] std::string fresh_inspection_address();

} // namespace troupe::internal
