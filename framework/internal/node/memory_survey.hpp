// Finds what keeps a node's objects alive.
#pragma once

#include <expected>

#include <troupe/framework/memory_summary.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

class node_core;

/// May block briefly for the store's lock. Fails with `object_lost` if the store cannot be read.
[[nodiscard]] std::expected<memory_summary, node_error> survey_memory(const node_core& node, const memory_query& query);

} // namespace troupe::internal
