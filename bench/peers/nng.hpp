// nng over its unix-socket transport: PAIR sockets, both one way and for what is answered. PUSH and PULL, which it has
// for one way, were six times slower there.
#pragma once

#include "peers/small_messages.hpp"

namespace bench {

[[nodiscard]] subject nng_ipc();

} // namespace bench
