// What does each step of a small message's way cost, and what is the least it would cost?
//
// CAF's own part and the coding are measured on a single thread, without contention. The whole is the processor time
// for a message at either end of a link, one way, as in the benchmark `throughput`. The difference is Troupe's part:
// heads, credit, counters, locks, system calls or the ring, and cache lines that move between cores.
#include "harness/limits.hpp"
#include "harness/report.hpp"
#include "harness/rounds.hpp"
#include "harness/steps.hpp"
#include "ladder/rungs.hpp"
#include "throughput/troupe_subjects.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <ctime>
#include <fstream>
#include <iostream>
#include <memory>

namespace bench {

namespace {

struct ladder_options {
  int rounds = 9;
  std::uint64_t messages = 500'000;
  std::vector<std::string> subjects;
  std::string json_file;
  bool is_quick = false;
  std::int64_t deadline = 60;
  std::string serve, drive, address; // For processes that the program starts itself.
};

const quantity at_sending_end{"sending end, processor time", "ns"};
const quantity at_receiving_end{"receiving end, processor time", "ns"};
const quantity rate{"one way, a core each", "msg/s"};

const std::vector<subject>& wholes() {
  static const std::vector<subject> all{troupe_unix(), troupe_shm()};
  return all;
}

const subject* find_whole(std::string_view name) {
  const auto found = std::ranges::find(wholes(), name, &subject::name);
  return found == wholes().end() ? nullptr : &*found;
}

std::expected<ladder_options, int> read_options(int argument_count, const char* const* arguments) {
  std::vector<std::string> names;
  for (const auto& each : all_rungs())
    names.push_back(each.name);
  std::vector<std::string> whole_names;
  for (const auto& each : wholes())
    whole_names.push_back(each.name);
  names.insert(names.end(), whole_names.begin(), whole_names.end());
  ladder_options read;
  CLI::App app{"Measures each step of a small message", "ladder"};
  app.add_option("--rounds", read.rounds, "Rounds that count, after one warm-up round")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--messages", read.messages, "Number of messages for each step in a round")
      ->check(CLI::Range(1, 1'000'000'000))
      ->capture_default_str();
  app.add_option("--subjects", read.subjects, "Only these, separated by commas: " + CLI::detail::join(names, ", "))
      ->delimiter(',')
      ->check(CLI::IsMember(names));
  app.add_option("--json", read.json_file, "Also writes the results to this file, one JSON object per line");
  app.add_flag("--quick", read.is_quick, "One round of 2,000 messages: shows whether it works, not how fast it is");
  app.add_option("--deadline", read.deadline, "Seconds after which a subject is abandoned if it has not finished")
      ->check(CLI::Range(1, 3600))
      ->capture_default_str();
  app.add_option("--serve", read.serve)->group("")->check(CLI::IsMember(whole_names));
  app.add_option("--drive", read.drive)->group("")->check(CLI::IsMember(whole_names));
  app.add_option("--address", read.address)->group("");
  try {
    app.parse(argument_count, arguments);
  } catch (const CLI::ParseError& error) {
    return std::unexpected{app.exit(error) == 0 ? 0 : 2};
  }
  if (read.is_quick) {
    read.rounds = 1;
    read.messages = 2'000;
  }
  if (read.subjects.empty())
    read.subjects = names;
  return read;
}

double process_nanoseconds() {
  std::timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

/// For the near process. The step "stream" sends the messages. Its numbers are this process's processor time in
/// nanoseconds and the elapsed seconds, for all messages.
std::expected<step_taker, std::string> connect_whole(const subject& what, const std::string& address) {
  auto connected = what.connect(address);
  if (!connected)
    return std::unexpected{std::move(connected).error()};
  const std::shared_ptr<near_end> near{*std::move(connected)};
  return step_taker{[near](const step& next) -> std::expected<numbers, std::string> {
    const auto before = process_nanoseconds();
    auto streamed = near->one_way(next.count);
    if (!streamed)
      return std::unexpected{std::move(streamed).error()};
    return numbers{process_nanoseconds() - before, streamed->count()};
  }};
}

std::expected<observations, failure> run_whole(const std::string& subject, const ladder_options& told,
                                               stop_signals& signals) {
  auto group = process_group::start(subject, signals);
  if (!group)
    return std::unexpected{std::move(group).error()};
  const std::chrono::seconds deadline{told.deadline};
  group->place(placement::a_core_each);
  if (const auto warm = ask(*group, {"stream", told.messages / 10 + 1}, 2, deadline); !warm)
    return std::unexpected{warm.error()};
  const auto before = group->processor_time();
  const auto near_took = ask(*group, {"stream", told.messages}, 2, deadline);
  if (!near_took)
    return std::unexpected{near_took.error()};
  const auto both_took = std::chrono::duration<double, std::nano>(group->processor_time() - before).count();
  const auto messages = static_cast<double>(told.messages);
  return observations{{at_sending_end, near_took->front() / messages},
                      {at_receiving_end, (both_took - near_took->front()) / messages},
                      {rate, messages / near_took->back()}};
}

std::expected<observations, failure> run_round(const std::string& subject, const ladder_options& told,
                                               stop_signals& signals) {
  const auto* step = find_rung(subject);
  if (step == nullptr)
    return run_whole(subject, told, signals);
  if (const auto warm = step->take(told.messages / 10 + 1); !warm)
    return std::unexpected{failure{.reason = warm.error()}};
  const auto took = step->take(told.messages);
  if (!took)
    return std::unexpected{failure{.reason = took.error()}};
  return observations{{step->at == link_end::sending ? at_sending_end : at_receiving_end, *took}};
}

/// Prints each part's share of an end's time. Prints nothing if a step was not measured.
void show_shares(const std::vector<row>& rows, link_end at) {
  const auto& what = at == link_end::sending ? at_sending_end : at_receiving_end;
  double of_caf = 0;
  double of_coding = 0;
  for (const auto& each : all_rungs()) {
    if (each.at != at || !each.is_in_whole)
      continue;
    const auto* found = find_row(rows, what.name, each.name);
    if (found == nullptr)
      return;
    (each.whose == worker::caf ? of_caf : of_coding) += found->median;
  }
  for (const auto& each : wholes())
    if (const auto* whole = find_row(rows, what.name, each.name))
      std::cout << fmt::format("{}, {}: {:.0f} ns = CAF {:.0f} + coding {:.0f} + Troupe {:.0f}\n", each.name,
                               at == link_end::sending ? "sending" : "receiving", whole->median, of_caf, of_coding,
                               whole->median - of_caf - of_coding);
}

int measure(const ladder_options& told) {
  std::ofstream json;
  if (!told.json_file.empty()) {
    json.open(told.json_file);
    if (!json) {
      std::cerr << "cannot write " << told.json_file << '\n';
      return 2;
    }
  }
  stop_signals signals;
  const auto outcome = run_rounds(told.rounds, told.subjects,
                                  [&](int, const std::string& subject) { return run_round(subject, told, signals); });
  if (outcome.is_stopped)
    return 128 + signals.came();
  const std::vector<std::string> peers{wholes()[0].name, wholes()[1].name};
  const auto rows = outcome.values.rows(peers);
  std::cout << table(rows, peers) << '\n';
  for (const auto at : {link_end::sending, link_end::receiving})
    show_shares(rows, at);
  for (const auto& [subject, failed] : outcome.failures)
    std::cout << fmt::format("\n{} failed: {}\n", subject, failed.reason);
  if (json.is_open())
    write_json(json, "ladder", rows, outcome.failures);
  return outcome.failures.empty() ? 0 : 1;
}

} // namespace

} // namespace bench

int main(int argument_count, char** arguments) {
  const auto told = bench::read_options(argument_count, arguments);
  if (!told)
    return told.error();
  if (!told->serve.empty())
    return bench::serve_steps([&](const auto& ready) { return bench::find_whole(told->serve)->serve(ready); });
  if (!told->drive.empty())
    return bench::drive_steps([&] { return bench::connect_whole(*bench::find_whole(told->drive), told->address); });
  return bench::measure(*told);
}
