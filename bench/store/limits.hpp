// Limits that the store must meet.
#pragma once

#include "harness/statistics.hpp"

#include <ostream>
#include <vector>

namespace bench {

/// Prints a line for each limit whose quantities were measured. Returns false if one is missed.
[[nodiscard]] bool check_store_limits(const std::vector<row>& rows, std::ostream& out);

} // namespace bench
