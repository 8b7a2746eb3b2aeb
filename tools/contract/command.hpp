// `troupe contract`: compares what two versions of a program look like to their peers.
#pragma once

#include <iosfwd>

namespace CLI {
class App;
}

namespace troupe::tools {

/// Adds the command to `app`. When it was asked for, what it says goes to `out`, failures to `err`, and `status`
/// becomes the exit status: 0, 1 when a change breaks older peers, or 2 when a contract cannot be read.
void add_contract_command(CLI::App& app, std::ostream& out, std::ostream& err, int& status);

} // namespace troupe::tools
