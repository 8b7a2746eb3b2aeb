// Troupe's floors, which it must reach, and goals, which it should reach. Each is a ratio to a peer measured in the
// same run.
#pragma once

#include "harness/statistics.hpp"

#include <ostream>

namespace bench {

/// Prints a line for each floor and goal. Returns false if a floor is missed or could not be checked.
[[nodiscard]] bool check_floors(const std::vector<row>& rows, std::ostream& out);

} // namespace bench
