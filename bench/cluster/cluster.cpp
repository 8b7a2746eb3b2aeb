// What does a cluster cost, and how soon does it notice a loss?
//
// How long after the SIGKILL of a member do the others get member_down, and how long until what it owned answers again?
// How many requests a second pass through a service handle, compared with a plain one? How long does it take until 100
// nodes that join at once see each other? How much memory does a member take in the others? Which requests does etcd
// get from members at rest? How long does it take to make many entities, how much memory do they take, and what does
// the loss of a member with half of them cost?
//
// Each question is asked with host:// and with an etcd of one with default times, which the run starts for itself.
// Members are processes that are started anew in each round. Rounds are interleaved: host, etcd, host, etcd. The
// questions are in files of their own.
#include "cluster/questions.hpp"
#include "harness/report.hpp"
#include "peers/troupe_process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <optional>

namespace bench {

namespace {

constexpr auto benchmark_name = "cluster";

/// Reports progress with a line on standard error.
void say(const std::string& text) {
  std::cerr << text << std::endl;
}

class measurement {
public:
  measurement(const cluster_bench_options& told, stop_signals& signals)
      : told_(told), run_{.told = told, .signals = signals, .values = values_} {}

  void start_etcd() {
    auto started = etcd_process::start(told_.etcd_program);
    if (started)
      etcd_ = *std::move(started);
    else
      failures_.emplace_back("etcd", failure{.is_absent = true, .reason = std::move(started).error()});
    run_.etcd = etcd_.get();
  }

  void ask(const cluster_question& question) {
    const auto rounds = told_.rounds > 0 ? told_.rounds : question.rounds;
    std::vector<std::string> kinds;
    for (const auto& kind : told_.directories)
      if ((kind == "host" && !question.is_of_etcd_alone) || (kind == "etcd" && etcd_))
        kinds.push_back(kind);
    for (run_.round = 1; run_.round <= rounds && !is_stopped_; ++run_.round)
      for (const auto& kind : std::vector{kinds}) {
        if (is_stopped_)
          return;
        say(fmt::format("{}, {}: round {} of {}", question.name, kind, run_.round, rounds));
        run_.kind = kind;
        const auto prefix = fmt::format("{}-{}", question.name, run_.round);
        run_.directory = kind == "etcd" ? etcd_->address(prefix) : "host://" + prefix;
        if (auto asked = question.ask(run_); !asked) {
          is_stopped_ = asked.error().is_stop;
          failures_.emplace_back(question.name + ", " + kind, std::move(asked).error());
          std::erase(kinds, kind);
        }
      }
  }

  [[nodiscard]] bool is_stopped() const noexcept { return is_stopped_; }

  /// Prints the results. Returns the exit status.
  [[nodiscard]] int report(const std::vector<const cluster_question*>& asked) const {
    const auto rows = values_.rows({});
    std::cout << table(rows, {}) << '\n';
    for (const auto& [about, note] : run_.notes)
      std::cout << note << '\n';
    for (const auto& [subject, failed] : failures_)
      std::cout << fmt::format("{} {}: {}\n", subject, failed.is_absent ? "is not available" : "failed", failed.reason);
    if (!told_.json_file.empty()) {
      std::ofstream json{told_.json_file, std::ios::app};
      write_json(json, benchmark_name, rows, failures_);
    }
    const auto failed = std::ranges::any_of(failures_, [](const auto& one) { return !one.second.is_absent; });
    if (told_.is_quick && !told_.has_to_meet_limits)
      return failed ? 1 : 0;
    auto all_met = true;
    for (const auto* question : asked) {
      if (question->bounds)
        for (const auto& one : question->bounds(told_))
          all_met = is_held(one, rows) && all_met;
      if (!question->limits.empty())
        all_met = are_met(question->limits, rows, std::cout) && all_met;
    }
    return failed || (told_.has_to_meet_limits && !all_met) ? 1 : 0;
  }

private:
  /// Prints whether all rounds kept the bound. True if nothing was measured.
  static bool is_held(const bound& one, const std::vector<row>& rows) {
    const auto* const found = find_row(rows, one.quantity_name, one.subject);
    if (found == nullptr)
      return true;
    const auto is = found->max <= one.most;
    std::cout << fmt::format("bound {}: {} of {} at most {} {} ({}), median {}, greatest {} of {} rounds\n",
                             is ? "held" : "missed", one.quantity_name, one.subject, short_number(one.most),
                             found->what.unit, one.reason, short_number(found->median), short_number(found->max),
                             found->rounds);
    return is;
  }

  const cluster_bench_options& told_;
  results values_;
  std::unique_ptr<etcd_process> etcd_;
  cluster_run run_;
  std::vector<std::pair<std::string, failure>> failures_;
  bool is_stopped_ = false;
};

int measure_cluster(const cluster_bench_options& told) {
  if (!told.json_file.empty() && !std::ofstream{told.json_file}) {
    std::cerr << "cannot write " << told.json_file << '\n';
    return 2;
  }
  make_secret_of_this_run();
  const own_folder state{"troupe-bench-cluster"}; // For host://.
  ::setenv("TROUPE_STATE_DIR", state.path().c_str(), 1);
  stop_signals signals;
  measurement measured{told, signals};
  if (std::ranges::count(told.directories, "etcd") > 0)
    measured.start_etcd();
  std::vector<const cluster_question*> asked;
  for (const auto& question : cluster_questions())
    if (std::ranges::count(told.questions, question.name) > 0) {
      measured.ask(question);
      asked.push_back(&question);
    }
  if (measured.is_stopped())
    return 128 + signals.came();
  return measured.report(asked);
}

} // namespace

const std::vector<cluster_question>& cluster_questions() {
  static const std::vector<cluster_question> all{failover_question(), service_question(), join_question(),
                                                 memory_question(),   rest_question(),    entities_question()};
  return all;
}

} // namespace bench

int main(int argument_count, char** arguments) {
  std::vector<std::string> questions, roles;
  for (const auto& question : bench::cluster_questions()) {
    questions.push_back(question.name);
    for (const auto& [role, start] : question.roles)
      roles.push_back(role);
  }
  const auto told = bench::read_cluster_bench_options(argument_count, arguments, questions, roles);
  if (!told)
    return told.error();
  if (told->role.empty())
    return bench::measure_cluster(*told);
  for (const auto& question : bench::cluster_questions())
    if (const auto found = question.roles.find(told->role); found != question.roles.end())
      return bench::drive_steps([&] { return found->second(*told); });
  return 2;
}
