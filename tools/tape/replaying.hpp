// `troupe replay`: sends the messages of a tape again.
#pragma once

#include <iosfwd>

namespace CLI {
class App;
}

namespace troupe::tools {

/// Adds the command to `app`. The command writes its result to `out`, failures and progress to `err`, and the exit
/// status to `status`. The status is 0; 1 if an answer differs or is missing, or if not all was sent; or 2 if the tape
/// cannot be read or the node cannot be reached.
void add_replay_command(CLI::App& app, std::ostream& out, std::ostream& err, int& status);

} // namespace troupe::tools
