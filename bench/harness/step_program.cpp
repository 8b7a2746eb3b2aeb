#include "harness/step_program.hpp"

#include "harness/process_group.hpp"
#include "harness/report.hpp"
#include "harness/rounds.hpp"
#include "harness/stop_signals.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdint>
#include <fstream>
#include <iostream>

namespace bench {

namespace {

struct step_options {
  int rounds = 5;
  std::uint64_t milliseconds = 0; // Time of the step in each round.
  std::vector<std::string> subjects;
  std::string json_file;
  bool is_quick = false;
  bool has_to_meet_limits = false;
  std::int64_t deadline = 60;
  std::string serve, drive, address; // For processes that the program starts itself.
};

std::expected<step_options, int> read_options(const step_program& program, int argument_count,
                                              const char* const* arguments) {
  step_options read;
  read.milliseconds = static_cast<std::uint64_t>(program.time.count());
  CLI::App app{program.description, program.name};
  app.add_option("--rounds", read.rounds, "Rounds that count, after one warm-up round")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  auto* time =
      app.add_option("--milliseconds", read.milliseconds, "Duration of the questions in each round, in milliseconds")
          ->check(CLI::Range(1, 1'000'000))
          ->capture_default_str();
  app.add_option("--subjects", read.subjects,
                 "Only these, separated by commas: " + CLI::detail::join(program.subjects, ", "))
      ->delimiter(',')
      ->check(CLI::IsMember(program.subjects));
  app.add_option("--json", read.json_file, "Also writes the results to this file, one JSON object per line");
  app.add_flag("--quick", read.is_quick, "One short round: shows whether it works, not how fast it is");
  app.add_flag("--floors", read.has_to_meet_limits, "Status 1 if a limit is missed");
  app.add_option("--deadline", read.deadline, "Seconds after which a subject is abandoned if it has not finished")
      ->check(CLI::Range(1, 3600))
      ->capture_default_str();
  app.add_option("--serve", read.serve)->group("")->check(CLI::IsMember(program.subjects));
  app.add_option("--drive", read.drive)->group("")->check(CLI::IsMember(program.subjects));
  app.add_option("--address", read.address)->group("");
  try {
    app.parse(argument_count, arguments);
  } catch (const CLI::ParseError& error) {
    return std::unexpected{app.exit(error) == 0 ? 0 : 2};
  }
  if (read.is_quick) {
    read.rounds = 1;
    if (!*time)
      read.milliseconds = static_cast<std::uint64_t>(program.quick_time.count());
  }
  if (read.subjects.empty())
    read.subjects = program.subjects;
  return read;
}

std::expected<observations, failure> run_round(const step_program& program, const std::string& subject,
                                               const step_options& told, stop_signals& signals) {
  auto group = process_group::start(subject, signals);
  if (!group)
    return std::unexpected{std::move(group).error()};
  const std::chrono::seconds deadline{told.deadline};
  const auto count = program.quantities.size();
  if (program.warms_up)
    if (const auto warm = ask(*group, {program.step, told.milliseconds / 10 + 1}, count, deadline); !warm)
      return std::unexpected{warm.error()};
  const auto took = ask(*group, {program.step, told.milliseconds}, count, deadline);
  if (!took)
    return std::unexpected{took.error()};
  observations seen;
  for (std::size_t i = 0; i < count; ++i)
    seen.emplace_back(program.quantities[i], took->at(i));
  return seen;
}

int measure(const step_program& program, const step_options& told) {
  std::ofstream json;
  if (!told.json_file.empty()) {
    json.open(told.json_file);
    if (!json) {
      std::cerr << "cannot write " << told.json_file << '\n';
      return 2;
    }
  }
  if (program.prepare)
    program.prepare();
  stop_signals signals;
  const auto outcome = run_rounds(told.rounds, told.subjects, [&](int, const std::string& subject) {
    return run_round(program, subject, told, signals);
  });
  if (outcome.is_stopped)
    return 128 + signals.came();
  const auto rows = outcome.values.rows({});
  std::cout << table(rows, {});
  for (const auto& [subject, failed] : outcome.failures)
    std::cout << fmt::format("\n{} failed: {}\n", subject, failed.reason);
  if (json.is_open())
    write_json(json, program.name, rows, outcome.failures);
  if (told.is_quick && !told.has_to_meet_limits)
    return outcome.failures.empty() ? 0 : 1;
  std::cout << '\n';
  const auto is_met = are_met(program.limits, rows, std::cout);
  return outcome.failures.empty() && (is_met || !told.has_to_meet_limits) ? 0 : 1;
}

} // namespace

int run(const step_program& program, int argument_count, const char* const* arguments) {
  const auto told = read_options(program, argument_count, arguments);
  if (!told)
    return told.error();
  if (!told->serve.empty())
    return serve_steps([&](const auto& ready) { return program.serve(told->serve, ready); });
  if (!told->drive.empty())
    return drive_steps([&] { return program.connect(told->drive, told->address); });
  return measure(program, *told);
}

} // namespace bench
