// Limits that the store must meet.
#pragma once

#include "harness/statistics.hpp"

#include <ostream>
#include <vector>

namespace bench {

/// Prints a line for each limit. Returns whether all limits are met; a limit that was not measured is not met.
[[nodiscard]] bool check_store_limits(const std::vector<row>& rows, std::ostream& out);

} // namespace bench
