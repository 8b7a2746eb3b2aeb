// Ends the work of a node before the node ends.
#pragma once

#include <chrono>
#include <expected>

#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

class node_core;

/// Stops accepting peers, withdraws all names, and waits until the requests of peers are answered and their messages
/// consumed. Blocks for at most `patience`. Fails with `timed_out`, or with `unsupported` on I/O threads.
[[nodiscard]] std::expected<void, node_error> drain(node_core& node, std::chrono::milliseconds patience);

} // namespace troupe::internal
