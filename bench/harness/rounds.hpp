// Interleaved rounds: A B C, A B C, ... so that what disturbs the machine for a while disturbs all subjects.
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

/// Why a subject has no result.
struct failure {
  bool is_absent = false; // It cannot run here at all, which is no fault of the benchmark.
  bool is_stop = false;   // The user wants the whole run to end.
  std::string reason;
};

/// A line on standard error that is written over and over; nothing where that is not a terminal.
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

/// What a subject reached in one round.
using observations = std::vector<std::pair<quantity, double>>;

/// Lets one subject run once. Round 0 is for warming up, its observations are not kept.
using run_subject = std::function<std::expected<observations, failure>(int round, const std::string& subject)>;

struct outcome {
  results values;
  std::vector<std::pair<std::string, failure>> failures; // By subject.
  bool is_stopped = false;
  int rounds = 0; // Those that all subjects have been through.
};

/// Runs every subject in round 0 and then in `rounds` further ones. One that fails is left out of the rounds after. What
/// was reached before a stop counts. No round begins that would end more than `total_seconds` after this was called, as far
/// as the one before tells, but for the first one.
[[nodiscard]] outcome run_rounds(int rounds, const std::vector<std::string>& subjects, const run_subject& run,
                                 double total_seconds = std::numeric_limits<double>::infinity());

} // namespace bench
