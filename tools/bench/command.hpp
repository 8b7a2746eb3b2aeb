// `troupe bench`: measures throughput and round-trip times on the user's own machine.
#pragma once

#include <iosfwd>

namespace CLI {
class App;
}

namespace troupe::tools {

/// Adds the command to `app`. Failed measurements are reported on `err` and set `status` to 1; invalid arguments set it
/// to 2; a signal that ends the run sets it to 128 plus the signal's number.
void add_bench_command(CLI::App& app, std::ostream& out, std::ostream& err, int& status);

} // namespace troupe::tools
