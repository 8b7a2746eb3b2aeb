// `troupe bench diff`.
#pragma once

#include "bench/answer.hpp"

namespace CLI {
class App;
}

namespace troupe::tools {

/// Adds the command to `bench`. A measurement that is slower than allowed sets the status to 1; documents that cannot
/// be compared set it to 2.
void add_diff_command(CLI::App& bench, const answer_to& to);

} // namespace troupe::tools
