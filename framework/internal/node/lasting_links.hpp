// The links of a node that its lasting handles use.
#pragma once

#include <memory>

#include <troupe/framework/internal/lasting/kept_link.hpp>

namespace troupe::internal {

class node_core;

/// Returns a function that keeps links of this node, by link_keepers.
[[nodiscard]] keep_link_function lasting_links_of(std::weak_ptr<node_core> node);

} // namespace troupe::internal
