// Answers what peers ask about this node.
#pragma once

#include <expected>
#include <functional>

#include <caf/actor.hpp>
#include <caf/actor_system.hpp>

#include <troupe/framework/memory_summary.hpp>
#include <troupe/framework/node_error.hpp>

namespace troupe::internal {

/// An actor that answers a memory_query with what `survey` gives, on a thread of the system's scheduler. Ends by an
/// exit message.
[[nodiscard]] caf::actor
spawn_inspector(caf::actor_system& system,
                std::function<std::expected<memory_summary, node_error>(const memory_query&)> survey);

} // namespace troupe::internal
