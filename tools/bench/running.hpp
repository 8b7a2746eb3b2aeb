// Lets the processes of each measurement do what they are to do, round after round.
#pragma once

#include "bench/machine.hpp"
#include "bench/request.hpp"

#include "harness/statistics.hpp"

#include <optional>
#include <string>
#include <vector>

namespace troupe::tools {

/// Over all rounds.
struct range {
  double median = 0;
  double min = 0;
  double max = 0;
};

/// There and back, in seconds.
struct trip_times {
  range p50;
  range p90;
  range p99;
  range p999;
  range max;
};

struct measured {
  measurement what;
  std::string failure{};  // Empty: it has the values below.
  std::size_t rounds = 0; // That it was measured in.
  std::string path{};     // What carried the payloads: "socket", "handle" or "in place".
  range messages_a_second{};
  range bytes_a_second{}; // Of payloads, in one direction.
  std::optional<trip_times> trips{};
};

struct run_results {
  machine where;
  bench_request asked;
  std::vector<measured> all; // In the order of the plan.
  int rounds = 0;            // That all have been through; less than was asked for where time was up, or when stopped.
  int stopped_by = 0;        // A signal.
};

/// Requires: plan is not empty, and there is room for each. Fails with a text where nothing can be measured at all.
[[nodiscard]] std::expected<run_results, std::string> run(const bench_request& asked,
                                                          const std::vector<measurement>& plan);

} // namespace troupe::tools
