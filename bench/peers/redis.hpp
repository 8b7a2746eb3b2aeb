// Redis publish and subscribe, by a server of this run's own on a unix socket: whatever goes from one process to the
// other goes through the server.
#pragma once

#include "peers/small_messages.hpp"

namespace bench {

[[nodiscard]] subject redis_unix();

} // namespace bench
