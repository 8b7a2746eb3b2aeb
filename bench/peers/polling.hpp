// Waiting without sleeping, for peers whose ends look again and again whether something has come.
#pragma once

#include <sys/types.h>

namespace bench {

/// Whether this process and `other` have only one core, and the same. There an end that polls has to let the other one
/// run: else each message waits until the system takes the core away, which is milliseconds. Where each has a core of
/// its own, letting others run only costs time.
[[nodiscard]] bool share_one_core(pid_t other);

} // namespace bench
