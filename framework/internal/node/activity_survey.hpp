// What happens in a node.
#pragma once

#include <troupe/framework/node_activity.hpp>

namespace troupe::internal {

class node_core;

/// Begins to keep letters and spans if the query asks for them.
[[nodiscard]] node_activity activity_of(node_core& node, const activity_query& query);

} // namespace troupe::internal
