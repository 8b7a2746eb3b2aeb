// Limits that must hold: ratios of two values of one subject in one round, or to a peer's value in the same round.
#pragma once

#include "harness/statistics.hpp"

#include <ostream>

namespace bench {

/// Names of the limited quantities.
constexpr const char* reference_name = "request with a reference / with a small message";
constexpr const char* get_spread_name = "get(), slowest size / fastest";
constexpr const char* get_to_store_name = "get() / the store's find and pin, the worst size";
constexpr const char* pull_quarter_name = "a quarter of the large value from another host";
constexpr const char* pull_large_name = "the large value from another host";
constexpr const char* late_hops_name = "a hop of the last tenth / of the first";
constexpr const char* rows_name = "rows at the last hop / after a tenth";
constexpr const char* memory_name = "memory at the last hop / after a tenth";

/// Prints a line for each limit whose subject was measured. Returns false if one is missed, or none was checked.
[[nodiscard]] bool check_handles_limits(const std::vector<row>& rows, std::ostream& out);

} // namespace bench
