// Waiting without sleep, for peers whose ends poll.
#pragma once

#include <sys/types.h>

namespace bench {

/// Whether this process and `other` are restricted to the same single core. On a shared core, an end that polls must
/// yield. Otherwise each message waits until the scheduler takes the core away, which takes milliseconds. If each end
/// has its own core, yielding only costs time.
[[nodiscard]] bool share_one_core(pid_t other);

} // namespace bench
