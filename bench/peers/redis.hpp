// Redis publish and subscribe through a server of this run on a unix socket. All messages between the two processes
// pass through the server.
#pragma once

#include "peers/small_messages.hpp"

namespace bench {

[[nodiscard]] subject redis_unix();

} // namespace bench
