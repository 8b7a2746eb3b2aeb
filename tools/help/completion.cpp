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

/// All words that may follow a command, except file names.
[[nodiscard]] std::vector<std::string> words_behind(const CLI::App& command) {
  std::vector<std::string> result;
  for (const auto* each : commands_below(command))
    result.push_back(each->get_name());
  for (const auto* each : positionals_of(command))
    for (auto& value : values_of(*each))
      result.push_back(std::move(value));
  for (const auto* each : options_of(command))
    for (auto& name : names_of(*each))
      result.push_back(std::move(name));
  return result;
}

[[nodiscard]] bool takes_files(const CLI::App& command) {
  return std::ranges::any_of(positionals_of(command), [](const auto* each) { return takes_file(*each); });
}

/// Quotes the text for a shell, with single quotes.
[[nodiscard]] std::string in_quotes(const std::string& text) {
  std::string result = "'";
  for (const auto each : text)
    result += each == '\'' ? "'\\''" : std::string{each};
  return result + '\'';
}

/// An option's values for the bash function: "-" for files, and a leading comma if the option takes a list.
[[nodiscard]] std::string bash_values(const CLI::Option& option) {
  const auto values = values_of(option);
  return values.empty() ? "-" : (is_list(option) ? "," : "") + joined(values);
}

[[nodiscard]] std::string bash_cases(const std::vector<command_words>& commands) {
  std::string text;
  for (const auto& each : commands) {
    const auto path = joined(each.path);
    text += fmt::format("    {})\n      words={}{}\n", in_quotes(path), in_quotes(joined(words_behind(*each.command))),
                        takes_files(*each.command) ? " files=-" : "");
    std::string values;
    for (const auto* option : options_of(*each.command))
      if (takes_value(*option))
        values += fmt::format("        {}) values={};;\n", fmt::join(names_of(*option), "|"),
                              in_quotes(bash_values(*option)));
    if (!values.empty())
      text += "      case \"$previous\" in\n" + values + "      esac\n";
    text += "      ;;\n";
  }
  return text;
}

/// All command paths, with which the function finds the command before the cursor.
[[nodiscard]] std::string all_paths(const std::vector<command_words>& commands) {
  std::string text;
  for (const auto& each : commands)
    text += '|' + joined(each.path);
  return text + '|';
}

/// The completion function of bash, which zsh can also call.
[[nodiscard]] std::string bash_function(const std::string& name, const CLI::App& app) {
  const auto commands = commands_of(app);
  return name + R"(() {
  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}" command='' words='' files=''
  local values='' before='' next i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    next="${command:+$command }${COMP_WORDS[i]}"
    case )"
         + in_quotes(all_paths(commands)) + R"( in *"|$next|"*) command="$next" ;; esac
  done
  case "$command" in
)" + bash_cases(commands)
         + R"(  esac
  case "$values" in
    -) words='' files=- ;;
    ,*) words="${values#,}" files='' before="${current%"${current##*,}"}" ;;
    ?*) words="$values" files='' ;;
  esac
  COMPREPLY=($(compgen -P "$before" -W "$words" -- "${current#"$before"}"))
  if [[ -n "$files" ]]; then
    COMPREPLY+=($(compgen -f -- "$current"))
    compopt -o filenames 2>/dev/null
  fi
}
)";
}

/// A fish function that tests whether the words before the cursor are those of a command.
[[nodiscard]] std::string fish_function(const CLI::App& app) {
  std::string paths;
  for (const auto& each : commands_of(app))
    paths += ' ' + in_quotes(joined(each.path));
  return R"(function __troupe_is_at
  set -l command
  for word in (commandline -opc)[2..-1]
    if contains -- (string join -- ' ' $command $word))"
         + paths + R"(
      set -a command $word
    end
  end
  test "$command" = "$argv"
end
)";
}

[[nodiscard]] std::string fish_values(const CLI::Option& option) {
  const auto values = joined(values_of(option));
  return values.empty() ? " -r -F"
                        : " -x -a " + in_quotes(is_list(option) ? "(__fish_append , " + values + ')' : values);
}

} // namespace

std::string bash_completion_of(const CLI::App& app) {
  return "# Completion of `troupe` for bash: source it, or put it into "
         "/usr/share/bash-completion/completions/troupe.\n"
         + bash_function("_troupe", app) + "complete -F _troupe troupe\n";
}

std::string zsh_completion_of(const CLI::App& app) {
  return "#compdef troupe\n# Completion of `troupe` for zsh: put it as _troupe into a folder of $fpath, or source it "
         "after compinit.\n"
         "autoload -U +X bashcompinit && bashcompinit\n"
         + bash_function("_troupe_words", app) + R"(complete -F _troupe_words troupe
# From $fpath this is run as a function when the first word is to be completed.
if [[ "${funcstack[1]}" == _troupe ]]; then _bash_complete -F _troupe_words; fi
)";
}

std::string fish_completion_of(const CLI::App& app) {
  std::string text = "# Completion of `troupe` for fish: put it into ~/.config/fish/completions/troupe.fish.\n"
                     + fish_function(app) + "complete -c troupe -f\n";
  for (const auto& each : commands_of(app)) {
    const auto start =
        "complete -c troupe -n " + in_quotes("__troupe_is_at" + (each.path.empty() ? "" : ' ' + joined(each.path)));
    for (const auto* below : commands_below(*each.command))
      text += fmt::format("{} -a {} -d {}\n", start, below->get_name(), in_quotes(below->get_description()));
    for (const auto* positional : positionals_of(*each.command))
      if (const auto values = values_of(*positional); !values.empty())
        text += fmt::format("{} -a {}\n", start, in_quotes(joined(values)));
    if (takes_files(*each.command))
      text += start + " -F\n";
    for (const auto* option : options_of(*each.command)) {
      text += start;
      for (const auto& name : option->get_snames())
        text += " -s " + name;
      for (const auto& name : option->get_lnames())
        text += " -l " + name;
      if (takes_value(*option))
        text += fish_values(*option);
      text += " -d " + in_quotes(option->get_description()) + '\n';
    }
  }
  return text;
}

} // namespace troupe::tools
