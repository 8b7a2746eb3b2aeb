#include "bench/diff/ratio.hpp"

#include "harness/statistics.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <random>

namespace troupe::tools {

namespace {

[[nodiscard]] double resampled_median(const std::vector<double>& from, std::mt19937_64& random,
                                      std::vector<double>& room) {
  room.resize(from.size());
  for (auto& each : room)
    each = from[random() % from.size()]; // The same on every machine, unlike the standard's distributions.
  const auto middle = room.begin() + static_cast<std::ptrdiff_t>(room.size() / 2);
  std::ranges::nth_element(room, middle);
  return room.size() % 2 == 1 ? *middle : (*middle + *std::max_element(room.begin(), middle)) / 2;
}

} // namespace

ratio_interval ratio_of_medians(const std::vector<double>& before, const std::vector<double>& after,
                                std::uint64_t seed) {
  assert(!before.empty());
  assert(!after.empty());
  std::mt19937_64 random{seed};
  std::vector<double> ratios;
  std::vector<double> room;
  for (int i = 0; i < resamples; ++i) {
    const auto below = resampled_median(before, random, room);
    ratios.push_back(resampled_median(after, random, room) / below);
  }
  constexpr double left_out_percent = 2.5;
  return {.ratio = bench::median(after) / bench::median(before),
          .low = bench::percentile(ratios, left_out_percent),
          .high = bench::percentile(ratios, 100 - left_out_percent)};
}

} // namespace troupe::tools
