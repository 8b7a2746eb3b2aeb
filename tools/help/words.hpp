// The words that may follow each command.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace troupe::tools {

/// One command and the words that lead to it, such as {"store", "list"}. `troupe` itself has none.
struct command_words {
  std::vector<std::string> path;
  const CLI::App* command = nullptr;
};

/// All commands; each comes before its subcommands.
[[nodiscard]] std::vector<command_words> commands_of(const CLI::App& app);

/// The direct subcommands of `command`.
[[nodiscard]] std::vector<const CLI::App*> commands_below(const CLI::App& command);
/// The named options of `command`, and those of its parent that may follow it.
[[nodiscard]] std::vector<const CLI::Option*> options_of(const CLI::App& command);
[[nodiscard]] std::vector<const CLI::Option*> positionals_of(const CLI::App& command);
/// "-s", "--store".
[[nodiscard]] std::vector<std::string> names_of(const CLI::Option& option);
[[nodiscard]] bool takes_value(const CLI::Option& option);
/// Whether the option takes several values, separated by commas.
[[nodiscard]] bool is_list(const CLI::Option& option);
/// Whether the value is certainly a file name. Other values may be file names as well.
[[nodiscard]] bool takes_file(const CLI::Option& option);
/// The words that the option takes, read from a description such as "Order: size, age, id or creator".
[[nodiscard]] std::vector<std::string> values_of(const CLI::Option& option);

} // namespace troupe::tools
