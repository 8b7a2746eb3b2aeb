// What Troupe's families promise, beside peers of the same run.
#pragma once

#include "harness/statistics.hpp"

#include <ostream>
#include <vector>

namespace bench {

/// Writes a line for each promise that was measured. Gives whether all are kept.
[[nodiscard]] bool check_serializer_limits(const std::vector<row>& rows, std::ostream& out);

} // namespace bench
