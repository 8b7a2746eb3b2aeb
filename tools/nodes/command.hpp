// `troupe links`, `troupe ping` and `troupe types`: ask nodes about their links, response times and types.
#pragma once

#include <iosfwd>

namespace CLI {
class App;
}

namespace troupe::tools {

/// Each adds its command to `app`. The command prints to `out` and `err`, and sets `status` to 1 if a node does not
/// answer, or to 2 if an address is invalid.
void add_links_command(CLI::App& app, std::ostream& out, std::ostream& err, int& status);
void add_ping_command(CLI::App& app, std::ostream& out, std::ostream& err, int& status);
void add_types_command(CLI::App& app, std::ostream& out, std::ostream& err, int& status);

} // namespace troupe::tools
