#include "store/limits.hpp"

#include "harness/report.hpp"
#include "store/cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

namespace bench {

namespace {

/// Limits the median of quantities whose name begins with `name`, or its ratio to the limit subject's.
struct promise {
  std::string_view name;
  bool is_ratio;
  bool is_at_least;
  double value;
};

constexpr promise promises[] = {
    {"put 1 KiB by two", false, true, 0.9},
    {"put 1 KiB", true, false, 3},
    {"put ", true, true, 0.9},
    {"find, pin, release", true, false, 3},
    {"until another process sees the largest", false, false, 1.2},
    {"spill", true, true, 0.8},
    {"restore", true, true, 0.8},
    {"recover", false, false, 500},
    {"find while reaping, p99.9", false, false, 1'000},
};

} // namespace

bool check_store_limits(const std::vector<row>& rows, std::ostream& out) {
  bool all_met = true;
  std::set<std::string_view> checked; // The names of promises.
  for (const auto& one : rows) {
    if (one.subject != subject_store)
      continue;
    const auto* const found =
        std::ranges::find_if(promises, [&](const promise& each) { return one.what.name.starts_with(each.name); });
    if (found == std::end(promises))
      continue;
    const auto& [name, is_ratio, is_at_least, value] = *found;
    const auto ratio = one.ratio_to.find(subject_limit);
    if (is_ratio && ratio == one.ratio_to.end())
      continue;
    checked.insert(name);
    const auto is = is_ratio ? ratio->second : one.median;
    const auto is_met = is_at_least ? is >= value : is <= value;
    all_met = all_met && is_met;
    out << fmt::format("limit {}: {} at {} {}{}, is {}\n", is_met ? "met" : "missed", one.what.name,
                       is_at_least ? "least" : "most", value, is_ratio ? " x limit" : " " + one.what.unit,
                       short_number(is));
  }
  for (const auto& each : promises)
    if (!checked.contains(each.name)) {
      all_met = false;
      out << fmt::format("limit not checked: {}\n", each.name);
    }
  return all_met;
}

} // namespace bench
