// Processes that are ending: killed or exiting, but still in possession of their locks.
#pragma once

#include <sys/types.h>

namespace troupe::store::internal {

/// Whether the process executes at most one more instruction of its program, because it exits or SIGKILL is pending.
/// False for a process that lives, is stopped, is in another pid namespace, or is gone.
[[nodiscard]] bool is_ending(pid_t process);

} // namespace troupe::store::internal
