// All peers: what users would pick instead.
#pragma once

#include "peers/small_messages.hpp"

#include <vector>

namespace bench {

/// In the order of rounds and tables. One whose package was not found when this was built says so when it is asked to
/// serve.
[[nodiscard]] std::vector<subject> all_peers();

/// Those that are asked for many structs to a message.
[[nodiscard]] std::vector<subject> peers_with_batches();

} // namespace bench
