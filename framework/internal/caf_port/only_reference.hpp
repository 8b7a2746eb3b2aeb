// Whether anything else keeps an actor alive.
#pragma once

#include <atomic>

#include <caf/actor_control_block.hpp>

namespace troupe::internal {

/// Whether nothing else keeps the actor alive at this moment. Requires: not null.
[[nodiscard]] inline bool is_only_reference(const caf::strong_actor_ptr& to) noexcept {
  return to->strong_refs.load(std::memory_order_acquire) == 1;
}

} // namespace troupe::internal
