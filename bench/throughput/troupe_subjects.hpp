// Troupe itself, over each of its transports between processes.
#pragma once

#include "peers/small_messages.hpp"

namespace bench {

[[nodiscard]] subject troupe_unix();
[[nodiscard]] subject troupe_tcp();

} // namespace bench
