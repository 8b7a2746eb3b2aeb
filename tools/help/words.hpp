// What there is to be said after each command.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace troupe::tools {

/// One command, by the words that lead to it: {"store", "list"}; none for `troupe` itself.
struct command_words {
  std::vector<std::string> path;
  const CLI::App* command = nullptr;
};

/// All of them, each before those below it.
[[nodiscard]] std::vector<command_words> commands_of(const CLI::App& app);

/// Its commands.
[[nodiscard]] std::vector<const CLI::App*> commands_below(const CLI::App& command);
/// Its options that have names, and those of the commands above it that may stand behind it.
[[nodiscard]] std::vector<const CLI::Option*> options_of(const CLI::App& command);
[[nodiscard]] std::vector<const CLI::Option*> positionals_of(const CLI::App& command);
/// "-s", "--store".
[[nodiscard]] std::vector<std::string> names_of(const CLI::Option& option);
[[nodiscard]] bool takes_value(const CLI::Option& option);
/// Whether that is several values, separated by commas.
[[nodiscard]] bool is_list(const CLI::Option& option);
/// Whether it is the name of a file for certain; any other text may be one.
[[nodiscard]] bool takes_file(const CLI::Option& option);
/// The words that it takes, where its description lists them: "By what: size, age, id or creator".
[[nodiscard]] std::vector<std::string> values_of(const CLI::Option& option);

} // namespace troupe::tools
