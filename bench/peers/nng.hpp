// nng over its unix-socket transport, with PAIR sockets both one way and for answered messages. PUSH and PULL, its
// sockets for one-way messages, were six times slower.
#pragma once

#include "peers/small_messages.hpp"

namespace bench {

[[nodiscard]] subject nng_ipc();

} // namespace bench
