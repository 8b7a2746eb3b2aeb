// `troupe cluster`: shows the members of a cluster and their work, drains a member, and finds out what is wrong.
#pragma once

#include <iosfwd>

namespace CLI {
class App;
}

namespace troupe::tools {

/// Adds the command to `app`. It prints to `out` and `err`. It sets `status` to 1 if it fails or, for `doctor`, if
/// something is wrong, and to 2 if the directory cannot be asked.
void add_cluster_command(CLI::App& app, std::ostream& out, std::ostream& err, int& status);

} // namespace troupe::tools
