// `troupe completion` and `troupe --help-all`: shell completion scripts and the help of all commands, generated from
// the commands themselves. help2man makes the manual page of the latter.
#pragma once

#include <iosfwd>
#include <string>

namespace CLI {
class App;
}

namespace troupe::tools {

/// Requires: all other commands have been added to `app`, which they describe.
void add_help_commands(CLI::App& app, std::ostream& out);

/// A script that completes commands, options and the values of options.
[[nodiscard]] std::string bash_completion_of(const CLI::App& app);
[[nodiscard]] std::string zsh_completion_of(const CLI::App& app);
[[nodiscard]] std::string fish_completion_of(const CLI::App& app);

/// The help of `app` and of each command, under headings as help2man reads them.
[[nodiscard]] std::string help_of_all(const CLI::App& app);

} // namespace troupe::tools
