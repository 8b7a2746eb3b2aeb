// Troupe itself, over each of its transports between processes.
#pragma once

#include "peers/small_messages.hpp"

namespace bench {

[[nodiscard]] subject troupe_unix();
[[nodiscard]] subject troupe_tcp();
/// Through rings in shared memory, as users get them, and where a core of either end polls.
[[nodiscard]] subject troupe_shm();
[[nodiscard]] subject troupe_shm_polling();
/// Over a unix socket, with everything counted and logged, and with nothing.
[[nodiscard]] subject troupe_unix_seen();
[[nodiscard]] subject troupe_unix_unseen();
/// Many structs to a message, over a unix socket and through rings.
[[nodiscard]] subject batches_troupe_unix();
[[nodiscard]] subject batches_troupe_shm();

} // namespace bench
