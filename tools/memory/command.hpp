// `troupe memory`: shows the objects in memory and on disk, the processes that keep them, and why.
#pragma once

#include <iosfwd>

namespace CLI {
class App;
}

namespace troupe::tools {

/// Adds the command to `app`. The command prints to `out` and `err`. It sets `status` to 1 if no node or store
/// answered, or if the requested object, store or node was not found. It sets `status` to 2 if an address is invalid.
void add_memory_command(CLI::App& app, std::ostream& out, std::ostream& err, int& status);

} // namespace troupe::tools
