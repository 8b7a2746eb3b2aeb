// NATS: publish and subscribe by a server of this run's own on the loopback device: whatever goes from one process to
// the other goes through the server.
#pragma once

#include "peers/small_messages.hpp"

namespace bench {

[[nodiscard]] subject nats_tcp();

} // namespace bench
