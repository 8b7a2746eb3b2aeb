// The cases that every subject runs.
#pragma once

#include "harness/process_group.hpp"
#include "harness/statistics.hpp"
#include "peers/small_messages.hpp"

#include <cstdint>
#include <expected>
#include <string_view>
#include <vector>

namespace bench {

/// The traffic of a case.
enum class exchange : std::uint8_t {
  one_way,          ///< The near end streams.
  one_way_together, ///< All near ends stream to all far ends at once; the asking process measures the time.
  echo,             ///< Many requests in flight.
  round_trip,       ///< One request at a time, each timed.
  nothing,          ///< Both ends wait for something to do.
};

/// One case: its name on the command line, and what it measures.
struct measured_case {
  std::string_view name;
  exchange does = exchange::one_way;
  placement where = placement::as_the_system_likes;
  std::vector<quantity> quantities; ///< Measured by the near end.
  /// The quantities of processor time. The parent process measures them, over all processes of the subject.
  std::vector<quantity> quantities_outside = {};
};

/// In per cent of a core. Less cannot be distinguished from the system's own work for a process.
constexpr double rest_percent_min = 0.1;

/// Cases between two processes; between one and several; between two with many structs per message; within one.
[[nodiscard]] std::vector<measured_case> pair_cases();
[[nodiscard]] std::vector<measured_case> fan_cases();
[[nodiscard]] std::vector<measured_case> batch_cases();
[[nodiscard]] std::vector<measured_case> local_cases();

/// The result of one run of a case.
struct measurement {
  bench::seconds took;
  std::vector<double> values; // One for each of the case's quantities, those from outside last.
};

/// Runs a case in a near process. `messages` counts structs if a message holds many of them. Requires: the near process
/// has something to do in this case.
[[nodiscard]] std::expected<measurement, std::string> run_case(const measured_case& what, near_end& near,
                                                               std::uint64_t messages);

} // namespace bench
