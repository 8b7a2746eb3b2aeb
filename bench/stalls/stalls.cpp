// How long do a request to an actor and a ping take while another actor of the same process handles its messages slowly
// and as many messages wait for it as the link allows?
//
// And how long do they take beside another link of the same node whose messages take 20 ms to decode, or beside peers
// that dial over TLS without a pause? Measured with one I/O thread and with two.
//
// The slow actor gets strings of 4 KiB without a pause, over the same link or another one. It computes for 50, 150 or
// 400 us per message, or for one second at one message in a hundred. Meanwhile, another actor is asked one question at
// a time, and answers at once. Over unix sockets, without a store; all bounds are the defaults.
#include "harness/limits.hpp"
#include "harness/report.hpp"
#include "harness/rounds.hpp"
#include "harness/steps.hpp"
#include "peers/troupe_process.hpp"
#include "stalls/subjects.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <fstream>
#include <iostream>

namespace bench {

namespace {

struct stalls_options {
  int rounds = 5;
  std::uint64_t milliseconds = 2'000; // Duration of the questions in each round.
  std::vector<std::string> subjects;
  std::string json_file;
  bool is_quick = false;
  bool has_to_meet_limits = false;
  std::int64_t deadline = 60;
  std::string serve, drive, address; // For processes that the program starts itself.
};

constexpr limit limits[] = {
    {request_p50_name, "beside-50us", true, 2'000},
    {request_p99_name, "beside-50us", true, 10'000},
    {request_p50_name, "beside-150us", true, 2'000},
    {request_p99_name, "beside-150us", true, 10'000},
    {request_p50_name, "beside-400us", true, 2'000},
    {request_p99_name, "beside-400us", true, 10'000},
    {request_p50_name, "other-link-150us", true, 2'000},
    {request_p99_name, "other-link-150us", true, 10'000},
    {request_p50_name, "beside-1s-in-100", true, 2'000},
    {request_p99_name, "beside-1s-in-100", true, 10'000},
    {request_p99_name, "decodes-20ms-2-io-threads", true, 5'000},
    {request_p99_name, "tls-storm-2-io-threads", true, 5'000},
};

std::expected<stalls_options, int> read_options(int argument_count, const char* const* arguments) {
  std::vector<std::string> names;
  for (const auto& each : stalls_subjects())
    names.push_back(each.name);
  stalls_options read;
  CLI::App app{"Measures requests beside an actor with long handlers", "stalls"};
  app.add_option("--rounds", read.rounds, "Rounds that count, after one warm-up round")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  auto* time =
      app.add_option("--milliseconds", read.milliseconds, "Duration of the questions in each round, in milliseconds")
          ->check(CLI::Range(1, 1'000'000))
          ->capture_default_str();
  app.add_option("--subjects", read.subjects, "Only these, separated by commas: " + CLI::detail::join(names, ", "))
      ->delimiter(',')
      ->check(CLI::IsMember(names));
  app.add_option("--json", read.json_file, "Also writes the results to this file, one JSON object per line");
  app.add_flag("--quick", read.is_quick, "One short round: shows whether it works, not how fast it is");
  app.add_flag("--floors", read.has_to_meet_limits, "Status 1 if a limit is missed");
  app.add_option("--deadline", read.deadline, "Seconds after which a subject is abandoned if it has not finished")
      ->check(CLI::Range(1, 3600))
      ->capture_default_str();
  app.add_option("--serve", read.serve)->group("")->check(CLI::IsMember(names));
  app.add_option("--drive", read.drive)->group("")->check(CLI::IsMember(names));
  app.add_option("--address", read.address)->group("");
  try {
    app.parse(argument_count, arguments);
  } catch (const CLI::ParseError& error) {
    return std::unexpected{app.exit(error) == 0 ? 0 : 2};
  }
  if (read.is_quick) {
    read.rounds = 1;
    if (!*time)
      read.milliseconds = 50;
  }
  if (read.subjects.empty())
    read.subjects = names;
  return read;
}

std::expected<observations, failure> run_round(const std::string& subject, const stalls_options& told,
                                               stop_signals& signals) {
  auto group = process_group::start(subject, signals);
  if (!group)
    return std::unexpected{std::move(group).error()};
  const std::chrono::seconds deadline{told.deadline};
  if (const auto warm = ask(*group, {"ask", told.milliseconds / 10 + 1}, 3, deadline); !warm)
    return std::unexpected{warm.error()};
  const auto took = ask(*group, {"ask", told.milliseconds}, 3, deadline);
  if (!took)
    return std::unexpected{took.error()};
  return observations{{{request_p50_name, "us"}, took->at(0)},
                      {{request_p99_name, "us"}, took->at(1)},
                      {{"ping p50", "us"}, took->at(2)}};
}

int measure(const stalls_options& told) {
  std::ofstream json;
  if (!told.json_file.empty()) {
    json.open(told.json_file);
    if (!json) {
      std::cerr << "cannot write " << told.json_file << '\n';
      return 2;
    }
  }
  make_secret_of_this_run();
  stop_signals signals;
  const auto outcome = run_rounds(told.rounds, told.subjects,
                                  [&](int, const std::string& subject) { return run_round(subject, told, signals); });
  if (outcome.is_stopped)
    return 128 + signals.came();
  const auto rows = outcome.values.rows({});
  std::cout << table(rows, {});
  for (const auto& [subject, failed] : outcome.failures)
    std::cout << fmt::format("\n{} failed: {}\n", subject, failed.reason);
  if (json.is_open())
    write_json(json, "stalls", rows, outcome.failures);
  if (told.is_quick && !told.has_to_meet_limits)
    return outcome.failures.empty() ? 0 : 1;
  std::cout << '\n';
  const auto is_met = are_met(limits, rows, std::cout);
  return outcome.failures.empty() && (is_met || !told.has_to_meet_limits) ? 0 : 1;
}

} // namespace

} // namespace bench

int main(int argument_count, char** arguments) {
  const auto told = bench::read_options(argument_count, arguments);
  if (!told)
    return told.error();
  if (!told->serve.empty())
    return bench::serve_steps(
        [&](const auto& ready) { return bench::serve_stalls(*bench::find_stalls_subject(told->serve), ready); });
  if (!told->drive.empty())
    return bench::drive_steps(
        [&] { return bench::connect_stalls(*bench::find_stalls_subject(told->drive), told->address); });
  return bench::measure(*told);
}
