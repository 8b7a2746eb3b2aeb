// Runs the processes of each measurement, round after round.
#pragma once

#include "bench/machine.hpp"
#include "bench/request.hpp"

#include "harness/statistics.hpp"

#include <optional>
#include <string>
#include <vector>

namespace troupe::tools {

/// Statistics over all rounds.
struct range {
  double median = 0;
  double min = 0;
  double max = 0;
  std::vector<double> values = {}; // Of the rounds, in order.
};

/// Round-trip times in seconds.
struct trip_times {
  range p50;
  range p90;
  range p99;
  range p999;
  range max;
};

struct measured {
  measurement what;
  std::string failure{};  // The reason, or empty if the values below are valid.
  std::size_t rounds = 0; // Rounds in which it was measured.
  std::string path{};     // How the payloads traveled: "socket", "handle" or "in place".
  range messages_a_second{};
  range bytes_a_second{}; // Payload bytes in one direction.
  std::optional<trip_times> trips{};
};

struct run_results {
  machine where;
  bench_request asked;
  std::vector<measured> all; // In the order of the plan.
  /// Rounds that all measurements completed. Fewer than requested if the time was up or the run was stopped.
  int rounds = 0;
  int stopped_by = 0; // The signal's number, or 0.
};

/// Runs the plan. Requires: `plan` is not empty, and there is room for each measurement. Fails with a text if nothing
/// can be measured at all.
[[nodiscard]] std::expected<run_results, std::string> run(const bench_request& asked,
                                                          const std::vector<measurement>& plan);

} // namespace troupe::tools
