// Actors of one process that talk to each other, with a node and without one.
#pragma once

#include "peers/small_messages.hpp"

namespace bench {

/// In a process whose node listens and has a link, which carries nothing meanwhile.
[[nodiscard]] subject troupe_local();

/// In a process with CAF only, whose scheduler has the policy that Troupe sets.
[[nodiscard]] subject caf_local();

} // namespace bench
