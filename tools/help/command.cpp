#include "help/command.hpp"

#include "arguments.hpp"
#include "help/words.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>

namespace troupe::tools {

namespace {

using script = std::string (*)(const CLI::App&);

void replace_all(std::string& in, std::string_view what, std::string_view by) {
  for (auto at = in.find(what); at != std::string::npos; at = in.find(what, at + by.size()))
    in.replace(at, what.size(), by);
}

} // namespace

void add_help_commands(CLI::App& app, std::ostream& out) {
  auto* const completion = app.add_subcommand("completion", "Prints a script that completes this command's words in a "
                                                            "shell, as in: source <(troupe completion bash)");
  auto shell = std::make_shared<std::string>();
  completion->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->check(is_one_of({"bash", "zsh", "fish"}))
      ->option_text("KEY");
  completion->callback([&app, &out, shell] {
    const std::map<std::string, script> scripts{
        {"bash", bash_completion_of}, {"zsh", zsh_completion_of}, {"fish", fish_completion_of}};
    out << scripts.at(*shell)(app);
  });
  app.add_flag_callback(
      "--help-all",
      [&app, &out] {
        out << help_of_all(app);
        throw CLI::Success{}; // No command needs to follow.
      },
      "Print the help of all commands and exit");
}

std::string help_of_all(const CLI::App& app) {
  auto text = app.help();
  for (const auto& [path, command] : commands_of(app)) {
    if (path.empty())
      continue;
    std::string above = app.get_name();
    for (auto word = path.begin(); word + 1 != path.end(); ++word)
      above += ' ' + *word;
    auto help = command->help(above);
    // What help2man needs: the usage is a paragraph, no section begins within a command's, examples look like commands.
    replace_all(help, "\nUsage: ", "\n\nUsage: ");
    replace_all(help, "\nOptions:", "\nOptions of this command:");
    replace_all(help, "\nExamples:", "\nExamples of this command:\n");
    replace_all(help, "\n  troupe ", "\n  $ troupe ");
    text += fmt::format("\n*troupe {}*\n\n{}", fmt::join(path, " "), help);
  }
  return text;
}

} // namespace troupe::tools
