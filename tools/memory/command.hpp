// `troupe memory`.
#pragma once

#include <iosfwd>

namespace CLI {
class App;
}

namespace troupe::tools {

/// Adds the command to `app`; what it prints goes to `out` and `err`, and `status` becomes 1 where nothing could be
/// asked.
void add_memory_command(CLI::App& app, std::ostream& out, std::ostream& err, int& status);

} // namespace troupe::tools
