// `troupe store`: looks into stores.
#pragma once

#include <iosfwd>

namespace CLI {
class App;
}

namespace troupe::tools {

/// Adds the command to `app`. When it was asked for, what it says goes to `out`, failures to `err`, and `status`
/// becomes the exit status: 0, or 1 when there is no such store or object, or the store contradicts itself.
void add_store_command(CLI::App& app, std::ostream& out, std::ostream& err, int& status);

} // namespace troupe::tools
