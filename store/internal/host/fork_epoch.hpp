// Detects that this process was forked. In the child, the parent's attachments are poisoned.
#pragma once

#include <atomic>
#include <cstdint>

namespace troupe::store::internal {

/// Counts the forks between this process and the first one that used the library. Only fork() counts; a raw clone
/// system call is not noticed.
extern std::atomic<std::uint32_t> fork_epoch;

[[nodiscard]] inline std::uint32_t current_fork_epoch() {
  return fork_epoch.load(std::memory_order_relaxed);
}

} // namespace troupe::store::internal
