// What the benchmark asks, and the parts that its questions share.
#pragma once

#include "cluster/etcd_process.hpp"
#include "cluster/options.hpp"
#include "harness/child_process.hpp"
#include "harness/limits.hpp"
#include "harness/rounds.hpp"
#include "harness/statistics.hpp"
#include "harness/steps.hpp"
#include "harness/stop_signals.hpp"

#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// What all rounds of a run share, in the measuring process.
struct cluster_run {
  const cluster_bench_options& told;
  stop_signals& signals;
  results& values;
  etcd_process* etcd = nullptr;                  // Null in a run without etcd.
  std::map<std::string, std::string> notes = {}; // Printed after the table, by what they are about.
  int round = 0;
  std::string kind = {};      // Of the directory: "host" or "etcd".
  std::string directory = {}; // An address that no other round has.

  void add(const quantity& what, const std::string& subject, double value) { values.add(what, subject, round, value); }
};

/// A copy of this program that has a role in a question: a child that takes steps.
class role_process {
public:
  /// Waits until it is ready. `number` tells equal roles apart.
  [[nodiscard]] static std::expected<role_process, failure> start(cluster_run& run, const std::string& role,
                                                                  std::size_t number = 0);

  /// Begins a step. Requires: no other one is under way.
  void begin(const step& next);
  /// Waits for the step's numbers.
  [[nodiscard]] std::expected<numbers, failure> finish(std::size_t numbers_count);
  [[nodiscard]] std::expected<numbers, failure> take(const step& next, std::size_t numbers_count);

private:
  role_process(cluster_run& run, child_process child) : run_(&run), child_(std::move(child)) {}
  [[nodiscard]] std::expected<std::string, failure> listen(const std::string& begin);

  cluster_run* run_;
  child_process child_;
  std::string asked_;
};

/// Waits. Fails if a stop signal comes.
[[nodiscard]] std::expected<void, failure> pause_for(cluster_run& run, std::chrono::milliseconds time);

/// Waits for a part of the time between two keep-alives, which differs from round to round. It is the same in equal
/// runs.
[[nodiscard]] std::expected<void, failure> pause_between_keep_alives(cluster_run& run);

[[nodiscard]] std::unexpected<failure> failed_step(std::string reason);

/// What a process with this role does at its start; it returns what takes its steps.
using role_start = std::function<std::expected<step_taker, std::string>(const cluster_bench_options& told)>;

/// A bound of all rounds' values, not only of their median.
struct bound {
  std::string quantity_name;
  std::string subject;
  double most = 0;
  std::string reason; // Where it comes from.
};

struct cluster_question {
  std::string name;
  int rounds;
  bool is_of_etcd_alone = false;
  std::map<std::string, role_start> roles;
  std::function<std::expected<void, failure>(cluster_run& run)> ask; // One round with one kind of directory.
  std::function<std::vector<bound>(const cluster_bench_options& told)> bounds = {};
  std::vector<limit> limits = {};
};

/// The bound of the time from the kill of an owner to an answer of its successor, and where it comes from.
[[nodiscard]] double answer_most_ms(const cluster_bench_options& told, const std::string& directory);
[[nodiscard]] std::string answer_reason(const std::string& directory);

/// Memory of the process, "self" or a number, that is resident and not shared; 0 if there is no such process.
[[nodiscard]] double resident_bytes_of(const std::string& process);

[[nodiscard]] cluster_question failover_question();
[[nodiscard]] cluster_question entities_question();
[[nodiscard]] cluster_question service_question();
[[nodiscard]] cluster_question join_question();
[[nodiscard]] cluster_question memory_question();
[[nodiscard]] cluster_question rest_question();

/// All of them, in the order in which they are asked.
[[nodiscard]] const std::vector<cluster_question>& cluster_questions();

} // namespace bench
