// What is promised: ratios of two values of one subject in one round, or to a peer's of the same round.
#pragma once

#include "harness/statistics.hpp"

#include <ostream>

namespace bench {

/// The names of those quantities: the round trip beside a bulk transfer over the idle one, both medians; the rate of
/// large messages with nothing beside them; what a large value takes by the store beyond a small one, over the time of
/// a memcpy.
constexpr const char* slowdown_name = "round trip p50 beside bulk / idle";
constexpr const char* bulk_alone_name = "bulk alone";
constexpr const char* by_store_name = "(large - 64 KiB) by the store / memcpy";

/// Prints a line for each limit whose subject was measured. False when one is missed, or there is none.
[[nodiscard]] bool check_limits(const std::vector<row>& rows, std::ostream& out);

} // namespace bench
