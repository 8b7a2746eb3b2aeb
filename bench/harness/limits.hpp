// Limits of quantities, and a check that results meet them.
#pragma once

#include "harness/statistics.hpp"

#include <ostream>
#include <span>
#include <vector>

namespace bench {

/// Limits the median of a subject's value, or of its ratio to a peer's value in the same round.
struct limit {
  const char* quantity_name;
  const char* subject;
  bool is_upper;
  double value;
  const char* peer = nullptr; // Null limits the value itself.
};

/// Prints a line for each limit whose subject was measured. Returns false if one is missed, or none was checked.
[[nodiscard]] bool are_met(std::span<const limit> limits, const std::vector<row>& rows, std::ostream& out);

} // namespace bench
