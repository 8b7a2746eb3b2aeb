// ZeroMQ over its unix-socket transport: PUSH and PULL one way, DEALER and ROUTER for answered messages.
#pragma once

#include "peers/small_messages.hpp"

namespace bench {

[[nodiscard]] subject zeromq_ipc();
/// With many structs per message.
[[nodiscard]] subject batches_zeromq_ipc();

} // namespace bench
