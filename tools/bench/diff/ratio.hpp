// Whether two samples differ, by the bootstrap.
#pragma once

#include <cstdint>
#include <vector>

namespace troupe::tools {

/// The ratio of two medians, with an interval that has the true ratio in about 95 of 100 cases.
struct ratio_interval {
  double ratio = 1;
  double low = 1;
  double high = 1;
};

inline constexpr int resamples = 10'000;

/// The median of `after` divided by that of `before`, and the percentile bootstrap: both samples are drawn anew, with
/// replacement, `resamples` times; the interval leaves out 2.5 % of these ratios at each end. Equal arguments give
/// equal results. Requires: neither is empty, and all values are above 0.
[[nodiscard]] ratio_interval ratio_of_medians(const std::vector<double>& before, const std::vector<double>& after,
                                              std::uint64_t seed);

} // namespace troupe::tools
