// What is promised, as a ratio of two values of one subject in one round.
#pragma once

#include "harness/statistics.hpp"

#include <ostream>

namespace bench {

/// The ratio's name in the results: the round trip beside a bulk transfer over the idle one, both medians.
constexpr const char* slowdown_name = "round trip p50 beside bulk / idle";

/// Prints a line for each subject that has a ratio. False when one is above the limit, or there is none.
[[nodiscard]] bool check_limits(const std::vector<row>& rows, std::ostream& out);

} // namespace bench
