#include "bulk/limits.hpp"

#include "harness/report.hpp"

#include <fmt/format.h>

namespace bench {

namespace {

constexpr double slowdown_max = 5;

} // namespace

bool check_limits(const std::vector<row>& rows, std::ostream& out) {
  bool all_met = true;
  std::size_t checked = 0;
  for (const auto& one : rows) {
    if (one.what.name != slowdown_name)
      continue;
    ++checked;
    const auto is_met = one.median <= slowdown_max;
    all_met = all_met && is_met;
    out << fmt::format("limit {}: {} of {} at most {}, is {}\n", is_met ? "met" : "missed", slowdown_name, one.subject,
                       slowdown_max, short_number(one.median));
  }
  return all_met && checked > 0;
}

} // namespace bench
