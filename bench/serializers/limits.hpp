// Limits that Troupe's families must meet, relative to peers in the same run.
#pragma once

#include "harness/statistics.hpp"

#include <ostream>
#include <vector>

namespace bench {

/// Writes a line for each limit. Returns whether all limits are met; a limit that was not measured is not met.
[[nodiscard]] bool check_serializer_limits(const std::vector<row>& rows, std::ostream& out);

} // namespace bench
