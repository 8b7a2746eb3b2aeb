// A node's report about itself.
#pragma once

#include <troupe/framework/node_report.hpp>

namespace troupe::internal {

class node_core;

/// May block briefly for the store's lock.
[[nodiscard]] node_report report_of(const node_core& node, const report_query& query);

} // namespace troupe::internal
