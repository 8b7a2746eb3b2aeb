// `troupe bench`: what passes in a second, and how long a message takes, on the user's own machine.
#pragma once

#include <iosfwd>

namespace CLI {
class App;
}

namespace troupe::tools {

/// What cannot be measured goes to `err`, and makes `status` 1; what was asked for wrongly makes it 2, and a signal
/// that ended the run 128 and the signal's number.
void add_bench_command(CLI::App& app, std::ostream& out, std::ostream& err, int& status);

} // namespace troupe::tools
