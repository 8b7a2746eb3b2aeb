// Looks through a node for what keeps objects.
#pragma once

#include <expected>

#include <troupe/framework/memory_summary.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

class node_core;

/// Blocks for the store's lock, for moments. Fails with `object_lost` where the store cannot be asked.
[[nodiscard]] std::expected<memory_summary, node_error> survey_memory(const node_core& node, const memory_query& query);

} // namespace troupe::internal
