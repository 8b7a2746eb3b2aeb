// The command line of a benchmark.
#pragma once

#include <CLI/CLI.hpp>

#include <chrono>
#include <concepts>
#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace bench {

/// Reads the options that benchmarks have in common, and those of one benchmark.
///
/// Lifetime: the variables that are read outlive it.
class command_line {
public:
  command_line(const std::string& description, const std::string& name) : app_{description, name} {}

  /// For options that only this benchmark has.
  [[nodiscard]] CLI::App& app() noexcept { return app_; }

  void add_rounds(int& read);
  /// A number that is `quick` with --quick, unless it is given.
  template <std::integral Number>
  void add_number(const std::string& flag, Number& read, const CLI::Range& range, const std::string& text,
                  std::optional<std::type_identity_t<Number>> quick = std::nullopt) {
    const auto* const option = app_.add_option(flag, read, text)->check(range)->capture_default_str();
    when_quick(option, [&read, quick] { read = quick.value_or(read); });
  }
  void add_seconds(const std::string& flag, std::chrono::seconds& read, const CLI::Range& range,
                   const std::string& text, std::optional<std::chrono::seconds> quick = std::nullopt);
  /// Some of `all`, separated by commas. If none is given: all of them.
  void add_choice(const std::string& flag, std::vector<std::string>& read, const std::vector<std::string>& all);
  void add_json(std::string& file);
  void add_quick(bool& read, const std::string& text);
  void add_floors(bool& read, const std::string& text = "Status 1 if a limit is missed");
  void add_deadline(std::chrono::seconds& read, const std::string& text);
  /// Options for processes that the program starts itself, which are not in --help.
  template <class Value>
  CLI::Option* add_hidden(const std::string& flag, Value& read) {
    return app_.add_option(flag, read)->group("");
  }
  /// Those of the processes of one subject, which serve and drive it.
  void add_subject_process(std::string& serve, std::string& drive, std::string& address,
                           const std::vector<std::string>& subjects);

  /// If the program has to end, fails with its exit status: 0 after --help, 2 after wrong arguments.
  [[nodiscard]] std::expected<void, int> read(int argument_count, const char* const* arguments);

private:
  void when_quick(const CLI::Option* unless, std::function<void()> then);

  CLI::App app_;
  const bool* is_quick_ = nullptr;
  std::vector<std::function<void()>> quick_; // Called after the reading if it is quick.
  std::vector<std::function<void()>> last_;  // Called at the end.
};

} // namespace bench
