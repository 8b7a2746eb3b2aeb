// `troupe view`: a web page that shows nodes live.
#pragma once

#include <iosfwd>

namespace CLI {
class App;
}

namespace troupe::tools {

/// Adds the command to `app`. It serves until SIGINT or SIGTERM.
void add_view_command(CLI::App& app, std::ostream& out, std::ostream& err, int& status);

} // namespace troupe::tools
