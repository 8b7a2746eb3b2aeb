#include "harness/step_program.hpp"

#include "harness/command_line.hpp"
#include "harness/process_group.hpp"
#include "harness/report.hpp"
#include "harness/rounds.hpp"
#include "harness/stop_signals.hpp"

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
  std::chrono::seconds deadline{60};
  std::string serve, drive, address; // For processes that the program starts itself.
};

std::expected<step_options, int> read_options(const step_program& program, int argument_count,
                                              const char* const* arguments) {
  step_options read;
  read.milliseconds = static_cast<std::uint64_t>(program.time.count());
  command_line line{program.description, program.name};
  line.add_rounds(read.rounds);
  line.add_number("--milliseconds", read.milliseconds, CLI::Range(1, 1'000'000),
                  "Duration of the questions in each round, in milliseconds",
                  static_cast<std::uint64_t>(program.quick_time.count()));
  line.add_choice("--subjects", read.subjects, program.subjects);
  line.add_json(read.json_file);
  line.add_quick(read.is_quick, "One short round: shows whether it works, not how fast it is");
  line.add_floors(read.has_to_meet_limits);
  line.add_deadline(read.deadline, "Seconds after which a subject is abandoned if it has not finished");
  line.add_subject_process(read.serve, read.drive, read.address, program.subjects);
  if (const auto done = line.read(argument_count, arguments); !done)
    return std::unexpected{done.error()};
  if (read.is_quick)
    read.rounds = 1;
  return read;
}

std::expected<observations, failure> run_round(const step_program& program, const std::string& subject,
                                               const step_options& told, stop_signals& signals) {
  auto group = process_group::start(subject, signals);
  if (!group)
    return std::unexpected{std::move(group).error()};
  const auto count = program.quantities.size();
  if (program.warms_up)
    if (const auto warm = ask(*group, {program.step, told.milliseconds / 10 + 1}, count, told.deadline); !warm)
      return std::unexpected{warm.error()};
  const auto took = ask(*group, {program.step, told.milliseconds}, count, told.deadline);
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
  const auto rows = outcome.values.rows(program.peers);
  std::cout << table(rows, program.peers);
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
