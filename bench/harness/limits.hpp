// What is promised of quantities, and whether it was kept.
#pragma once

#include "harness/statistics.hpp"

#include <ostream>
#include <span>
#include <vector>

namespace bench {

/// The value itself is limited, or its ratio to a peer's of the same round: medians.
struct limit {
  const char* quantity_name;
  const char* subject;
  bool is_upper;
  double value;
  const char* peer = nullptr; // Null: the value itself.
};

/// Prints a line for each limit whose subject was measured. False when one is missed, or there is none.
[[nodiscard]] bool are_met(std::span<const limit> limits, const std::vector<row>& rows, std::ostream& out);

} // namespace bench
