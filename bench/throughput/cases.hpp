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
};

/// One case: how its name is written on the command line, and what it yields.
struct measured_case {
  std::string_view name;
  exchange does = exchange::one_way;
  placement where = placement::as_the_system_likes;
  std::vector<quantity> quantities;
};

/// Between two processes; from and to several; within one.
[[nodiscard]] std::vector<measured_case> pair_cases();
[[nodiscard]] std::vector<measured_case> fan_cases();
[[nodiscard]] std::vector<measured_case> local_cases();

/// What one run of a case gave.
struct measurement {
  bench::seconds took;
  std::vector<double> values; // One for each of the case's quantities.
};

/// Runs a case, in a near process.
[[nodiscard]] std::expected<measurement, std::string> run_case(const measured_case& what, near_end& near,
                                                               std::uint64_t messages);

} // namespace bench
