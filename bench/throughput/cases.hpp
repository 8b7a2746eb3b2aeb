// What is asked of every subject.
#pragma once

#include "harness/process_pair.hpp"
#include "harness/statistics.hpp"
#include "peers/small_messages.hpp"

#include <array>
#include <string_view>

namespace bench {

/// One case: how its name is written on the command line, and what it yields.
struct measured_case {
  std::string_view name;
  placement where = placement::as_the_system_likes;
  std::vector<quantity> quantities;
};

[[nodiscard]] const std::vector<measured_case>& all_cases();

/// Null where there is none of that name.
[[nodiscard]] const measured_case* find_case(std::string_view name);

/// What one run of a case gave.
struct measurement {
  bench::seconds took;
  std::vector<double> values; // One for each of the case's quantities.
};

/// Runs a case, in the near process.
[[nodiscard]] std::expected<measurement, std::string> run_case(const measured_case& what, near_end& near,
                                                               std::uint64_t messages);

} // namespace bench
