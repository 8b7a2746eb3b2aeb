// All peers: the alternatives that users could pick.
#pragma once

#include "peers/small_messages.hpp"

#include <vector>

namespace bench {

/// In the order of rounds and tables. If a peer's package was not found when this was built, its subject fails to serve
/// with a text that says so.
[[nodiscard]] std::vector<subject> all_peers();

/// The peers with a variant that carries many structs per message.
[[nodiscard]] std::vector<subject> peers_with_batches();

} // namespace bench
