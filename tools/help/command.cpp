#include "help/command.hpp"

#include "arguments.hpp"

#include <CLI/CLI.hpp>

#include <map>
#include <memory>
#include <ostream>
#include <string>

namespace troupe::tools {

namespace {

using script = std::string (*)(const CLI::App&);

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
  app.add_subcommand("man", "Prints this command's manual page, as in: troupe man | man -l -")->callback([&app, &out] {
    out << man_page_of(app);
  });
}

} // namespace troupe::tools
