#include <troupe/framework/bench/comparison.hpp>

#include "harness/statistics.hpp"

#include <algorithm>

namespace troupe::bench {

figure figure::of(const std::vector<double>& values) {
  const auto [min, max] = std::ranges::minmax(values);
  return {::bench::median(values), min, max, ::bench::percentile(values, 25), ::bench::percentile(values, 75)};
}

const comparison_row* comparison::find(std::string_view family, std::string_view over,
                                       troupe::compression compressed) const {
  const auto found = std::ranges::find_if(rows, [&](const comparison_row& row) {
    return row.family == family && row.over == over && row.compression == compressed;
  });
  return found == rows.end() ? nullptr : &*found;
}

} // namespace troupe::bench
