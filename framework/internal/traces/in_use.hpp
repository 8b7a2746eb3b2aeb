// Whether any message of this process has a context, so that the path of messages without one costs one branch.
#pragma once

#include <atomic>

namespace troupe::internal {

/// Never reset.
inline std::atomic<bool> contexts_are_in_use{false};

inline void use_contexts() noexcept {
  if (!contexts_are_in_use.load(std::memory_order_relaxed))
    contexts_are_in_use.store(true, std::memory_order_relaxed);
}

} // namespace troupe::internal
