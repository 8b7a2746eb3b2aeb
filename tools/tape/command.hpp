// `troupe tape`: shows what recordings of links contain.
#pragma once

#include <iosfwd>

namespace CLI {
class App;
}

namespace troupe::tools {

/// Adds the command to `app`. The command writes its result to `out`, failures to `err`, and the exit status to
/// `status`. The status is 0; 1 if a part of a tape is damaged; or 2 if a tape cannot be read at all.
void add_tape_command(CLI::App& app, std::ostream& out, std::ostream& err, int& status);

} // namespace troupe::tools
