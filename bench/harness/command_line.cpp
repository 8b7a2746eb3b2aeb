#include "harness/command_line.hpp"

#include <utility>

namespace bench {

void command_line::add_rounds(int& read) {
  app_.add_option("--rounds", read, "Rounds that count, after one warm-up round")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
}

void command_line::add_seconds(const std::string& flag, std::chrono::seconds& read, const CLI::Range& range,
                               const std::string& text, std::optional<std::chrono::seconds> quick) {
  const auto* const option = app_.add_option_function<std::int64_t>(
                                     flag, [&read](std::int64_t given) { read = std::chrono::seconds{given}; }, text)
                                 ->check(range)
                                 ->default_str(std::to_string(read.count()));
  when_quick(option, [&read, quick] { read = quick.value_or(read); });
}

void command_line::add_choice(const std::string& flag, std::vector<std::string>& read,
                              const std::vector<std::string>& all) {
  app_.add_option(flag, read, "Only these, separated by commas: " + CLI::detail::join(all, ", "))
      ->delimiter(',')
      ->check(CLI::IsMember(all));
  last_.emplace_back([&read, all] {
    if (read.empty())
      read = all;
  });
}

void command_line::add_json(std::string& file) {
  app_.add_option("--json", file, "Also writes the results to this file, one JSON object per line");
}

void command_line::add_quick(bool& read, const std::string& text) {
  is_quick_ = &read;
  app_.add_flag("--quick", read, text);
}

void command_line::add_floors(bool& read, const std::string& text) {
  app_.add_flag("--floors", read, text);
}

void command_line::add_deadline(std::chrono::seconds& read, const std::string& text) {
  add_seconds("--deadline", read, CLI::Range(1, 3600), text);
}

void command_line::add_subject_process(std::string& serve, std::string& drive, std::string& address,
                                       const std::vector<std::string>& subjects) {
  add_hidden("--serve", serve)->check(CLI::IsMember(subjects));
  add_hidden("--drive", drive)->check(CLI::IsMember(subjects));
  add_hidden("--address", address);
}

std::expected<void, int> command_line::read(int argument_count, const char* const* arguments) {
  constexpr int bad_arguments = 2;
  try {
    app_.parse(argument_count, arguments);
  } catch (const CLI::ParseError& error) {
    return std::unexpected{app_.exit(error) == 0 ? 0 : bad_arguments};
  }
  if (is_quick_ != nullptr && *is_quick_)
    for (const auto& each : quick_)
      each();
  for (const auto& each : last_)
    each();
  return {};
}

void command_line::when_quick(const CLI::Option* unless, std::function<void()> then) {
  quick_.emplace_back([unless, then = std::move(then)] {
    if (unless->count() == 0)
      then();
  });
}

} // namespace bench
