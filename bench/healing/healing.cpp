// What do lasting handles and supervision cost, and how soon is a dead worker process replaced?
//
// How long do a small message one way and a request take through a lasting handle, compared with a plain one? The
// subject `plain-again` repeats `plain`: its ratio shows how far two equal subjects differ. bench/instructions counts
// the instructions, which do not depend on the machine's load. How much memory does each of 10,000 lasting handles to
// one name take?
//
// How long does it take from the SIGKILL of a supervised worker process until its successor answers the next request?
// The request is sent to the pool right after the kill. Each round kills the worker many times.
//
// Over unix sockets, without a store. The processes are started anew in every round. Round 0 warms up.
#include "harness/limits.hpp"
#include "harness/report.hpp"
#include "harness/rounds.hpp"
#include "healing/options.hpp"
#include "healing/subjects.hpp"
#include "peers/troupe_process.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iostream>

#include <troupe/framework/worker_main.hpp>

namespace bench {

namespace {

const std::vector<std::string> compared{"plain"};

constexpr limit limits[] = {{one_way_time_name, "lasting", true, 1.05, "plain"},
                            {"request and answer", "lasting", true, 1.05, "plain"},
                            {served_again_p95_name, "death-back-off-1ms", true, 500}};

std::expected<observations, failure> run_round(const healing_subject& subject, const healing_options& told,
                                               stop_signals& signals) {
  auto group = process_group::start(subject.name, signals, subject.shape);
  if (!group)
    return std::unexpected{std::move(group).error()};
  if (subject.shape.far_ends > 0)
    group->place(placement::a_core_each);
  observations seen;
  for (const auto& [name, count, quantities] : subject.steps) {
    const auto took = ask(*group, {name, told.*count}, quantities.size(), told.deadline);
    if (!took)
      return std::unexpected{took.error()};
    for (std::size_t i = 0; i < quantities.size(); ++i)
      seen.emplace_back(quantities[i], took->at(i));
  }
  return seen;
}

int measure(const healing_options& told) {
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
  const auto outcome = run_rounds(told.rounds, told.subjects, [&](int, const std::string& subject) {
    return run_round(*find_healing_subject(subject), told, signals);
  });
  if (outcome.is_stopped)
    return 128 + signals.came();
  const auto rows = outcome.values.rows(compared);
  std::cout << table(rows, compared);
  for (const auto& [subject, failed] : outcome.failures)
    std::cout << fmt::format("\n{} failed: {}\n", subject, failed.reason);
  if (json.is_open())
    write_json(json, "healing", rows, outcome.failures);
  auto all_well = outcome.failures.empty();
  if (told.shows_limits) {
    std::cout << '\n';
    all_well = (are_met(limits, rows, std::cout) || !told.has_to_meet_limits) && all_well;
  }
  return all_well ? 0 : 1;
}

} // namespace

} // namespace bench

int main(int argument_count, char** arguments) {
  if (troupe::is_worker())
    return bench::mortal_worker_main(argument_count, arguments);
  std::vector<std::string> subjects;
  for (const auto& each : bench::healing_subjects())
    subjects.push_back(each.name);
  const auto told = bench::read_healing_options(argument_count, arguments, subjects);
  if (!told)
    return told.error();
  if (!told->serve.empty())
    return bench::serve_steps(
        [&](const bench::ready_report& ready) { return bench::find_healing_subject(told->serve)->serve(ready); });
  if (!told->drive.empty())
    return bench::drive_steps([&] { return bench::find_healing_subject(told->drive)->connect(told->address); });
  return bench::measure(*told);
}
