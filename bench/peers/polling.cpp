#include "peers/polling.hpp"

#include <sched.h>

namespace bench {

bool share_one_core(pid_t other) {
  cpu_set_t ours, theirs, all;
  CPU_ZERO(&ours);
  CPU_ZERO(&theirs);
  ::sched_getaffinity(0, sizeof ours, &ours);
  if (::sched_getaffinity(other, sizeof theirs, &theirs) != 0)
    return false; // The other process has ended.
  CPU_OR(&all, &ours, &theirs);
  return CPU_COUNT(&all) == 1;
}

} // namespace bench
