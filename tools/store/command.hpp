// `troupe store`: lists, verifies and cleans stores.
#pragma once

#include <iosfwd>

namespace CLI {
class App;
}

namespace troupe::tools {

/// Adds the command to `app`. The command writes its result to `out`, failures to `err`, and the exit status to
/// `status`: 0, or 1 if the store or object does not exist, or if the store is inconsistent.
void add_store_command(CLI::App& app, std::ostream& out, std::ostream& err, int& status);

} // namespace troupe::tools
