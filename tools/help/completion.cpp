#include "help/command.hpp"
#include "help/words.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace troupe::tools {

namespace {

[[nodiscard]] std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

/// All that may stand behind a command.
[[nodiscard]] std::vector<std::string> words_behind(const CLI::App& command) {
  std::vector<std::string> result;
  for (const auto* each : commands_below(command))
    result.push_back(each->get_name());
  for (const auto* each : options_of(command))
    for (auto& name : names_of(*each))
      result.push_back(std::move(name));
  return result;
}

/// For a shell: in single quotes.
[[nodiscard]] std::string in_quotes(const std::string& text) {
  std::string result = "'";
  for (const auto each : text)
    result += each == '\'' ? "'\\''" : std::string{each};
  return result + '\'';
}

[[nodiscard]] std::string bash_cases(const std::vector<command_words>& commands) {
  std::string text;
  for (const auto& each : commands) {
    const auto path = joined(each.path);
    text += fmt::format("    {})\n      words={}\n", in_quotes(path), in_quotes(joined(words_behind(*each.command))));
    std::string values;
    for (const auto* option : options_of(*each.command))
      if (takes_value(*option))
        values += fmt::format("        {}) values={};;\n", fmt::join(names_of(*option), "|"),
                              in_quotes(values_of(*option).empty() ? "-" : joined(values_of(*option))));
    if (!values.empty())
      text += "      case \"$previous\" in\n" + values + "      esac\n";
    text += "      ;;\n";
  }
  return text;
}

/// Each command's path, to find out which one stands there.
[[nodiscard]] std::string all_paths(const std::vector<command_words>& commands) {
  std::string text;
  for (const auto& each : commands)
    text += '|' + joined(each.path);
  return text + '|';
}

} // namespace

std::string bash_completion_of(const CLI::App& app) {
  const auto commands = commands_of(app);
  return R"(# Completion of `troupe` for bash: source it, or put it into /usr/share/bash-completion/completions/troupe.
_troupe() {
  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}" path='' words='' values='' i next
  for ((i = 1; i < COMP_CWORD; ++i)); do
    next="${path:+$path }${COMP_WORDS[i]}"
    case )"
         + in_quotes(all_paths(commands)) + R"( in *"|$next|"*) path="$next" ;; esac
  done
  case "$path" in
)" + bash_cases(commands)
         + R"(  esac
  if [[ "$values" == - ]]; then
    COMPREPLY=($(compgen -f -- "$current"))
  elif [[ -n "$values" ]]; then
    COMPREPLY=($(compgen -W "$values" -- "$current"))
  else
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  fi
}
complete -F _troupe troupe
)";
}

std::string zsh_completion_of(const CLI::App& app) {
  return "#compdef troupe\n# Completion of `troupe` for zsh: put it as _troupe into a folder of $fpath, or source it.\n"
         "autoload -U +X bashcompinit && bashcompinit\n"
         + bash_completion_of(app);
}

std::string fish_completion_of(const CLI::App& app) {
  std::string text = "# Completion of `troupe` for fish: put it into ~/.config/fish/completions/troupe.fish.\n"
                     "complete -c troupe -f\n";
  for (const auto& each : commands_of(app)) {
    std::string when = "__fish_use_subcommand";
    if (!each.path.empty()) {
      when.clear();
      for (const auto& word : each.path)
        when += (when.empty() ? "" : "; and ") + ("__fish_seen_subcommand_from " + word);
    }
    for (const auto* below : commands_below(*each.command))
      text += fmt::format("complete -c troupe -n {} -a {} -d {}\n", in_quotes(when), below->get_name(),
                          in_quotes(below->get_description()));
    for (const auto* option : options_of(*each.command)) {
      text += "complete -c troupe -n " + in_quotes(when);
      for (const auto& name : option->get_snames())
        text += " -s " + name;
      for (const auto& name : option->get_lnames())
        text += " -l " + name;
      if (takes_value(*option))
        text += values_of(*option).empty() ? " -r -F" : " -x -a " + in_quotes(joined(values_of(*option)));
      text += " -d " + in_quotes(option->get_description()) + '\n';
    }
  }
  return text;
}

} // namespace troupe::tools
