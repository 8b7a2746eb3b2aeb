// Answers what peers ask about this node.
#pragma once

#include <expected>
#include <functional>

#include <caf/actor.hpp>
#include <caf/actor_system.hpp>

#include <troupe/framework/inspection.hpp>
#include <troupe/framework/memory_summary.hpp>
#include <troupe/framework/node_error.hpp>

namespace troupe::internal {

/// What peers may ask; what is empty is refused.
struct inspection_answers {
  std::function<std::expected<memory_summary, node_error>(const memory_query&)> memory;
  std::function<std::expected<node_report, node_error>(const report_query&)> report;
};

/// An actor that answers with what these give, on threads of the system's scheduler. Ends by an exit message.
[[nodiscard]] caf::actor spawn_inspector(caf::actor_system& system, inspection_answers answers);

} // namespace troupe::internal
