// Troupe itself, over each of its transports between processes.
#pragma once

#include "peers/small_messages.hpp"

namespace bench {

[[nodiscard]] subject troupe_unix();
[[nodiscard]] subject troupe_tcp();
/// Through rings in shared memory: as users get them, and with polling on one core at either end.
[[nodiscard]] subject troupe_shm();
[[nodiscard]] subject troupe_shm_polling();
/// Over a unix socket: with everything counted and logged, and with nothing.
[[nodiscard]] subject troupe_unix_seen();
[[nodiscard]] subject troupe_unix_unseen();
/// Over a unix socket: with a link that the near end records, with one that nobody records, and with another such one,
/// which shows how much two like subjects differ.
[[nodiscard]] subject troupe_unix_recorded();
[[nodiscard]] subject troupe_unix_unrecorded();
[[nodiscard]] subject troupe_unix_unrecorded_again();
/// With many structs per message, over a unix socket and through rings.
[[nodiscard]] subject batches_troupe_unix();
[[nodiscard]] subject batches_troupe_shm();

} // namespace bench
