// Calls a function when an actor of this process ends, unless the watch is cancelled before.
#pragma once

#include <functional>

#include <caf/actor_control_block.hpp>
#include <caf/fwd.hpp>

namespace troupe::internal {

/// Calls `call` with the reason when the actor ends, on the thread that ends it. If the actor has ended, calls it at
/// once. `key` is an address that nothing else uses while the watch exists.
void watch_end(const caf::strong_actor_ptr& actor, const void* key, std::function<void(const caf::error& reason)> call);

void unwatch_end(const caf::strong_actor_ptr& actor, const void* key);

} // namespace troupe::internal
