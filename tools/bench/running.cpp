#include "bench/running.hpp"

#include "bench/participant.hpp"
#include "bench/workspace.hpp"

#include "harness/process_group.hpp"
#include "harness/rounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <sstream>

namespace troupe::tools {

namespace {

/// The timeout of one step. It exceeds the requested time because a step sends at least one payload, however large.
[[nodiscard]] std::chrono::milliseconds patience(const measurement& what, double seconds) {
  constexpr double slowest_bytes_a_second = 5e6;
  const auto of_size =
      static_cast<double>(what.size_bytes * (what.window() + 1) * (what.peers + 1)) / slowest_bytes_a_second;
  return std::chrono::seconds{static_cast<std::int64_t>(30 + 5 * seconds + of_size)};
}

/// The combined result of all near ends.
[[nodiscard]] std::expected<answer, bench::failure> sum_of(const std::vector<std::string>& answers) {
  answer sum;
  for (const auto& each : answers) {
    std::istringstream words{each};
    bench::numbers values;
    for (double value = 0; words >> value;)
      values.push_back(value);
    if (values.size() != answer::numbers_count)
      return std::unexpected{bench::failure{.reason = "an answer that is none: took " + each}};
    auto one = answer::of(values);
    one.messages += sum.messages;
    one.seconds = std::max(one.seconds, sum.seconds);
    one.handle_bytes += sum.handle_bytes;
    sum = one;
  }
  return sum;
}

[[nodiscard]] std::string path_of(const measurement& what, const answer& reached) {
  if (what.transport == "inproc")
    return "in place";
  const auto sent =
      what.how == pattern::ring ? reached.messages / static_cast<double>(what.peers + 1) : reached.messages;
  return reached.handle_bytes > sent * static_cast<double>(what.size_bytes) / 2 ? "handle" : "socket";
}

const bench::quantity messages{"messages", "1/s"};
const bench::quantity p50{"p50", "s"};
const bench::quantity p90{"p90", "s"};
const bench::quantity p99{"p99", "s"};
const bench::quantity p999{"p99.9", "s"};
const bench::quantity maximum{"max", "s"};

[[nodiscard]] bench::observations observed(const measurement& what, const answer& reached) {
  bench::observations made{{messages, reached.messages / reached.seconds}};
  if (has_latency(what.how))
    made.insert(
        made.end(),
        {{p50, reached.p50}, {p90, reached.p90}, {p99, reached.p99}, {p999, reached.p999}, {maximum, reached.max}});
  return made;
}

/// Runs single measurements, each with processes and a store of its own.
class runner {
public:
  runner(const bench_request& asked, bench::stop_signals& signals) : asked_(asked), signals_(signals) {}

  [[nodiscard]] std::expected<answer, bench::failure> run(measurement what, bool is_trial) {
    const auto store = new_store::make(what);
    if (!store)
      return std::unexpected{bench::failure{.reason = store.error()}};
    const auto is_alone = what.transport == "inproc";
    auto group = bench::process_group::start(text_of(what), signals_,
                                             {.far_ends = is_alone ? 0 : what.far_ends(),
                                              .near_ends = is_alone ? 1 : what.near_ends(),
                                              .words_before = {"bench", "take-part"}});
    if (!group)
      return std::unexpected{group.error()};
    constexpr double trial_seconds = 0.02;
    const auto seconds = is_trial ? std::min(asked_.seconds, trial_seconds) : asked_.seconds;
    if (!is_trial)
      if (const auto warm = step(*group, what, "warm-up", seconds / 4); !warm)
        return warm;
    return step(*group, what, "measure", seconds);
  }

private:
  [[nodiscard]] std::expected<answer, bench::failure> step(bench::process_group& group, const measurement& what,
                                                           const char* name, double seconds) {
    const auto microseconds = static_cast<std::uint64_t>(seconds * 1e6);
    const auto answers =
        group.ask(fmt::format("{} {} {}", name, microseconds, what.size_bytes), patience(what, seconds));
    if (!answers)
      return std::unexpected{answers.error()};
    return sum_of(*answers);
  }

  const bench_request& asked_;
  bench::stop_signals& signals_;
};

[[nodiscard]] range range_of(const std::vector<bench::row>& rows, const bench::quantity& what, const std::string& label,
                             double factor = 1) {
  const auto* const found = bench::find_row(rows, what.name, label);
  if (found == nullptr)
    return {};
  range made{found->median * factor, found->min * factor, found->max * factor};
  for (const auto each : found->values)
    made.values.push_back(each * factor);
  return made;
}

/// The result of one measurement of the plan.
[[nodiscard]] measured measured_of(const measurement& what, const bench::outcome& ended,
                                   const std::vector<bench::row>& rows, const std::string& path) {
  const auto label = label_of(what);
  measured made{.what = what, .path = path};
  for (const auto& [subject, failure] : ended.failures)
    if (subject == label && !failure.is_stop)
      made.failure = failure.reason;
  const auto* const found = bench::find_row(rows, messages.name, label);
  if (made.failure.empty() && found == nullptr)
    made.failure = ended.is_stopped ? "not measured: the run was stopped" : "it was not measured";
  if (!made.failure.empty())
    return made;
  made.rounds = found->rounds;
  made.messages_a_second = range_of(rows, messages, label);
  made.bytes_a_second = range_of(rows, messages, label, static_cast<double>(what.size_bytes));
  if (has_latency(what.how))
    made.trips = trip_times{.p50 = range_of(rows, p50, label),
                            .p90 = range_of(rows, p90, label),
                            .p99 = range_of(rows, p99, label),
                            .p999 = range_of(rows, p999, label),
                            .max = range_of(rows, maximum, label)};
  return made;
}

} // namespace

std::expected<run_results, std::string> run(const bench_request& asked, const std::vector<measurement>& plan) {
  bench::stop_signals signals; // Created before the stores, which start threads.
  const auto space = workspace::make(asked.directory);
  if (!space)
    return std::unexpected{space.error()};
  if (std::ranges::find(asked.transports, "tls") != asked.transports.end())
    if (auto made = space->make_certificate(); !made)
      return std::unexpected{made.error()};

  run_results made{.where = machine_now(), .asked = asked};
  std::map<std::string, measurement> by_label;
  std::vector<std::string> labels;
  for (auto each : plan) {
    each.folder = space->folder();
    labels.push_back(label_of(each));
    by_label.emplace(labels.back(), std::move(each));
  }
  std::map<std::string, std::string> paths;
  runner each_time{asked, signals};
  // Round 0 is a short trial: measurements that cannot work fail before time is spent on the others.
  const auto ended = bench::run_rounds(
      asked.rounds, labels,
      [&](int round, const std::string& label) -> std::expected<bench::observations, bench::failure> {
        const auto& what = by_label.at(label);
        const auto reached = each_time.run(what, round == 0);
        if (!reached)
          return std::unexpected{reached.error()};
        paths[label] = path_of(what, *reached);
        return observed(what, *reached);
      },
      asked.total_seconds > 0 ? asked.total_seconds : std::numeric_limits<double>::infinity());
  const auto rows = ended.values.rows({});
  for (const auto& each : plan)
    made.all.push_back(measured_of(each, ended, rows, paths[label_of(each)]));
  made.rounds = ended.rounds;
  made.stopped_by = ended.is_stopped ? signals.came() : 0;
  return made;
}

} // namespace troupe::tools
