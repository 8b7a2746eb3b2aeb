// Interleaved rounds: A B C, A B C, ... so that a temporary disturbance of the machine affects all subjects.
#pragma once

#include "harness/statistics.hpp"

#include <expected>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

/// The reason why a subject has no result.
struct failure {
  bool is_absent = false; // It cannot run on this machine, which is no fault of the benchmark.
  bool is_stop = false;   // The user stops the whole run.
  std::string reason;
};

/// A line on standard error that is rewritten in place. Shows nothing if standard error is not a terminal.
class progress {
public:
  progress();
  ~progress();
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;
  void show(std::string_view text);

private:
  bool is_shown_ = false;
};

/// The results of a subject in one round.
using observations = std::vector<std::pair<quantity, double>>;

/// Runs one subject once. Round 0 warms up; its observations are dropped.
using run_subject = std::function<std::expected<observations, failure>(int round, const std::string& subject)>;

struct outcome {
  results values;
  std::vector<std::pair<std::string, failure>> failures; // By subject.
  bool is_stopped = false;
  int rounds = 0; // Rounds that all subjects have completed.
};

/// Runs every subject in round 0 and then in `rounds` further ones. A failed subject is left out of later rounds.
/// Results from before a stop count. Except for the first two, a round begins only if it is expected to end within
/// `total_seconds` of this call, judging by the mean of the rounds before it.
[[nodiscard]] outcome run_rounds(int rounds, const std::vector<std::string>& subjects, const run_subject& run,
                                 double total_seconds = std::numeric_limits<double>::infinity());

} // namespace bench
