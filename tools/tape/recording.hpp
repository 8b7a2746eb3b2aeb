// `troupe record`: records the links of another node.
#pragma once

#include <iosfwd>

namespace CLI {
class App;
}

namespace troupe::tools {

/// Adds the command to `app`. The command writes what it has recorded to `out`, failures to `err`, and the exit status
/// to `status`. The status is 0; 1 if the recording ended early; or 2 if it could not begin.
void add_record_command(CLI::App& app, std::ostream& out, std::ostream& err, int& status);

} // namespace troupe::tools
