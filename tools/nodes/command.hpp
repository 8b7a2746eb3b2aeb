// `troupe links`, `troupe ping` and `troupe types`.
#pragma once

#include <iosfwd>

namespace CLI {
class App;
}

namespace troupe::tools {

/// Add commands to `app`; what they print goes to `out` and `err`, and `status` becomes 1 where a node does not answer.
void add_links_command(CLI::App& app, std::ostream& out, std::ostream& err, int& status);
void add_ping_command(CLI::App& app, std::ostream& out, std::ostream& err, int& status);
void add_types_command(CLI::App& app, std::ostream& out, std::ostream& err, int& status);

} // namespace troupe::tools
