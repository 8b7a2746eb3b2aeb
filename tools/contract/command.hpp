// `troupe contract`: compares how two versions of a program look to their peers.
#pragma once

#include <iosfwd>

namespace CLI {
class App;
}

namespace troupe::tools {

/// Adds the command to `app`. The command writes its result to `out`, failures to `err`, and the exit status to
/// `status`. The status is 0; 1 if a change breaks older peers, or with --strict if some values are refused; or 2 if a
/// contract cannot be read.
void add_contract_command(CLI::App& app, std::ostream& out, std::ostream& err, int& status);

} // namespace troupe::tools
