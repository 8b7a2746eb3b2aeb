// `troupe completion` and `troupe man`: shell completion scripts and a man page, generated from the commands
// themselves.
#pragma once

#include <iosfwd>
#include <string>

namespace CLI {
class App;
}

namespace troupe::tools {

/// Requires: all other commands have been added to `app`, which these two describe.
void add_help_commands(CLI::App& app, std::ostream& out);

/// A script that completes commands, options and the values of options.
[[nodiscard]] std::string bash_completion_of(const CLI::App& app);
[[nodiscard]] std::string zsh_completion_of(const CLI::App& app);
[[nodiscard]] std::string fish_completion_of(const CLI::App& app);

/// The page troupe(1), in man's own macros.
[[nodiscard]] std::string man_page_of(const CLI::App& app);

} // namespace troupe::tools
