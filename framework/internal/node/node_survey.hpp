// What a node says of itself.
#pragma once

#include <troupe/framework/inspection.hpp>

namespace troupe::internal {

class node_core;

/// Blocks for the store's lock, for moments.
[[nodiscard]] node_report report_of(const node_core& node, const report_query& query);

} // namespace troupe::internal
