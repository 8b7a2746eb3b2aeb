// ZeroMQ over its unix-socket transport: PUSH and PULL one way, DEALER and ROUTER for what is answered.
#pragma once

#include "peers/small_messages.hpp"

namespace bench {

[[nodiscard]] subject zeromq_ipc();
/// Many structs to a message.
[[nodiscard]] subject batches_zeromq_ipc();

} // namespace bench
