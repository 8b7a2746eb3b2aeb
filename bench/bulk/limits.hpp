// Limits that must hold: ratios of two values of one subject in one round, or to a peer's value in the same round.
#pragma once

#include "harness/statistics.hpp"

#include <ostream>

namespace bench {

/// Names of the limited quantities: the median round trip beside a bulk transfer over the idle one; the rate of large
/// messages alone; the time of a large value by the store, beyond that of a small one, over the time of a memcpy.
constexpr const char* slowdown_name = "round trip p50 beside bulk / idle";
constexpr const char* bulk_alone_name = "bulk alone";
constexpr const char* by_store_name = "(large - 64 KiB) by the store / memcpy";

/// Prints a line for each limit whose subject was measured. Returns false if one is missed, or none was checked.
[[nodiscard]] bool check_limits(const std::vector<row>& rows, std::ostream& out);

} // namespace bench
