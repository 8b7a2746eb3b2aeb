// Troupe itself, over each of its transports between processes.
#pragma once

#include "peers/small_messages.hpp"

namespace bench {

/// In the process that measures, before it starts others: the two ends of a TCP link know each other by a secret of
/// this run, which they inherit. Without it they would share the user's cookie file, and leave one where there was
/// none.
void make_secret_of_this_run();

[[nodiscard]] subject troupe_unix();
[[nodiscard]] subject troupe_tcp();

} // namespace bench
