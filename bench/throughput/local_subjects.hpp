// Actors of one process that talk to each other, with and without a node.
#pragma once

#include "peers/small_messages.hpp"

namespace bench {

/// In a process whose node listens and has an idle link.
[[nodiscard]] subject troupe_local();

/// In a process with only CAF, whose scheduler has the policy that Troupe sets.
[[nodiscard]] subject caf_local();

} // namespace bench
