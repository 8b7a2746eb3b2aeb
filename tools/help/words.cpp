#include "help/words.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>

namespace troupe::tools {

namespace {

void add_commands(const CLI::App& of, std::vector<std::string>& path, std::vector<command_words>& to) {
  to.push_back({path, &of});
  for (const auto* each : commands_below(of)) {
    path.push_back(each->get_name());
    add_commands(*each, path, to);
    path.pop_back();
  }
}

[[nodiscard]] bool is_word(const std::string& text) {
  return !text.empty() && std::ranges::all_of(text, [](char each) {
    return (each >= 'a' && each <= 'z') || (each >= '0' && each <= '9') || each == '-';
  });
}

} // namespace

std::vector<command_words> commands_of(const CLI::App& app) {
  std::vector<command_words> result;
  std::vector<std::string> path;
  add_commands(app, path, result);
  return result;
}

std::vector<const CLI::App*> commands_below(const CLI::App& command) {
  // A command in no group is internal, as its options are.
  return command.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); });
}

std::vector<const CLI::Option*> options_of(const CLI::App& command) {
  // Options in no group are internal to the command's own processes.
  const auto is_named = [](const CLI::Option* each) { return !each->get_positional() && !each->get_group().empty(); };
  auto result = command.get_options(is_named);
  const auto* const above = command.get_parent();
  if (above != nullptr && above->get_parent() != nullptr && above->get_fallthrough())
    for (const auto* each : above->get_options(is_named))
      if (!each->check_lname("help"))
        result.push_back(each);
  return result;
}

std::vector<const CLI::Option*> positionals_of(const CLI::App& command) {
  return command.get_options([](const CLI::Option* each) { return each->get_positional(); });
}

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> result;
  for (const auto& each : option.get_snames())
    result.push_back('-' + each);
  for (const auto& each : option.get_lnames())
    result.push_back("--" + each);
  return result;
}

bool takes_value(const CLI::Option& option) {
  return option.get_items_expected_max() != 0;
}

bool is_list(const CLI::Option& option) {
  return option.get_delimiter() == ',';
}

bool takes_file(const CLI::Option& option) {
  return option.get_option_text() == "FILE";
}

std::vector<std::string> values_of(const CLI::Option& option) {
  if (option.get_option_text() != "KEY")
    return {};
  auto text = option.get_description();
  for (const auto* between : {": ", "each "})
    if (const auto at = text.rfind(between); at != std::string::npos)
      text.erase(0, at + std::string_view{between}.size());
  std::vector<std::string> result;
  std::string word;
  for (const auto each : text + ' ') {
    if (each != ' ' && each != ',') {
      word += each;
      continue;
    }
    if (is_word(word) && word != "or")
      result.push_back(word);
    word.clear();
  }
  return result;
}

} // namespace troupe::tools
