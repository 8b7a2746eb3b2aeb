// What is asked of every subject.
#pragma once

#include "harness/process_group.hpp"
#include "harness/statistics.hpp"
#include "peers/small_messages.hpp"

#include <cstdint>
#include <expected>
#include <string_view>
#include <vector>

namespace bench {

/// What the messages of a case do.
enum class exchange : std::uint8_t {
  one_way,          ///< The near end streams.
  one_way_together, ///< All near ends stream to all far ends at once; whoever asks them looks at the clock.
  echo,             ///< Many requests under way.
  round_trip,       ///< One at a time, each timed.
  nothing,          ///< Both ends wait for something to do.
};

/// One case: how its name is written on the command line, and what it yields.
struct measured_case {
  std::string_view name;
  exchange does = exchange::one_way;
  placement where = placement::as_the_system_likes;
  std::vector<quantity> quantities; ///< What the near end measures.
  /// The quantities of processor time. The parent process measures them, over all processes of the subject.
  std::vector<quantity> quantities_outside = {};
};

/// Less cannot be told from what the system itself does with a process: in per cent of a core.
constexpr double rest_percent_min = 0.1;

/// Between two processes; from and to several; between two, many structs to a message; within one.
[[nodiscard]] std::vector<measured_case> pair_cases();
[[nodiscard]] std::vector<measured_case> fan_cases();
[[nodiscard]] std::vector<measured_case> batch_cases();
[[nodiscard]] std::vector<measured_case> local_cases();

/// What one run of a case gave.
struct measurement {
  bench::seconds took;
  std::vector<double> values; // One for each of the case's quantities, those from outside last.
};

/// Runs a case in a near process. `messages` counts structs if a message holds many of them. Requires: the near process
/// has something to do in this case.
[[nodiscard]] std::expected<measurement, std::string> run_case(const measured_case& what, near_end& near,
                                                               std::uint64_t messages);

} // namespace bench
