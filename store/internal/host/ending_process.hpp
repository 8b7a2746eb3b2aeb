// Which processes are on the way out: killed or exiting, and not yet rid of their locks.
#pragma once

#include <sys/types.h>

namespace troupe::store::internal {

/// Whether that process runs no instruction of its program any more, or none after the next: it exits, or SIGKILL waits
/// for it. False for one that is alive or stopped, of another pid namespace, or gone.
[[nodiscard]] bool is_ending(pid_t process);

} // namespace troupe::store::internal
