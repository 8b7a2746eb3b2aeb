// `troupe top`: a live view of nodes, their links and stores.
#pragma once

#include <iosfwd>

namespace CLI {
class App;
}

namespace troupe::tools {

/// Adds the command to `app`. It shows the view on the process's terminal, or prints to `out` if there is none.
void add_top_command(CLI::App& app, std::ostream& out, std::ostream& err, int& status);

} // namespace troupe::tools
