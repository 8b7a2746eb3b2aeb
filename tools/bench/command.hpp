// `troupe bench`: measures throughput and round-trip times on the user's own machine.
#pragma once

#include <iosfwd>

namespace CLI {
class App;
}

namespace troupe::tools {

/// Adds the command to `app`. The command reports failed measurements on `err` and sets `status` to 1. Invalid
/// arguments set `status` to 2. A signal that ends the run sets it to 128 plus the signal's number.
void add_bench_command(CLI::App& app, std::ostream& out, std::ostream& err, int& status);

} // namespace troupe::tools
