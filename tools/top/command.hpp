// `troupe top`: a live view of nodes, their links and stores.
#pragma once

#include <iosfwd>

namespace CLI {
class App;
}

namespace troupe::tools {

/// Adds the command to `app`. The command shows the view on the process's terminal; without a terminal it prints to
/// `out`.
void add_top_command(CLI::App& app, std::ostream& out, std::ostream& err, int& status);

} // namespace troupe::tools
