// What is promised.
#pragma once

#include "harness/statistics.hpp"

#include <ostream>
#include <vector>

namespace bench {

/// Prints a line for each promise whose quantities were measured. False when one is missed.
[[nodiscard]] bool check_store_limits(const std::vector<row>& rows, std::ostream& out);

} // namespace bench
