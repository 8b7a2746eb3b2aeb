// NATS: publish and subscribe through a server on the loopback device, which each run starts for itself. All messages
// between the two processes pass through that server.
#pragma once

#include "peers/small_messages.hpp"

namespace bench {

[[nodiscard]] subject nats_tcp();

} // namespace bench
