// What peers may have a node do.
#pragma once

#include <chrono>
#include <expected>
#include <string_view>

#include <troupe/framework/node_activity.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

class node_core;

/// How long an order of a peer may wait for the peer of a link that it reconfigures.
inline constexpr std::chrono::seconds order_time_max{10};

/// Carries out an order and logs it. The log names `by` as the giver of the order. Blocks while a link is reconfigured,
/// at most for the timeout. Fails as link::order() does.
[[nodiscard]] std::expected<order_receipt, node_error>
carry_out(node_core& node, const node_order& order, std::string_view by, std::chrono::milliseconds timeout);

} // namespace troupe::internal
