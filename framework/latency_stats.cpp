#include <troupe/framework/latency_stats.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace troupe {

namespace {

void find_percentiles(latency_stats& of) {
  of.p50 = percentile(of, 50);
  of.p90 = percentile(of, 90);
  of.p99 = percentile(of, 99);
}

} // namespace

std::chrono::nanoseconds percentile(const latency_stats& of, double percent) {
  std::uint64_t count = 0;
  for (const auto& each : of.buckets)
    count += each.count;
  const auto rank =
      std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::ceil(static_cast<double>(count) * percent / 100)));
  std::uint64_t so_far = 0;
  for (const auto& each : of.buckets)
    if (so_far += each.count; so_far >= rank)
      return std::min(each.up_to, of.max);
  return of.buckets.empty() ? std::chrono::nanoseconds{0} : of.max;
}

void merge(latency_stats& total, const latency_stats& more) {
  if (more.count == 0)
    return;
  total.count += more.count;
  total.sum += more.sum;
  total.max = std::max(total.max, more.max);
  std::vector<latency_bucket> all;
  all.reserve(total.buckets.size() + more.buckets.size());
  std::ranges::merge(total.buckets, more.buckets, std::back_inserter(all), {}, &latency_bucket::up_to,
                     &latency_bucket::up_to);
  total.buckets.clear();
  for (const auto& each : all) {
    if (!total.buckets.empty() && total.buckets.back().up_to == each.up_to)
      total.buckets.back().count += each.count;
    else
      total.buckets.push_back(each);
  }
  find_percentiles(total);
}

latency_stats between(const latency_stats& before, const latency_stats& now) {
  latency_stats result;
  auto old = before.buckets.begin();
  for (const auto& each : now.buckets) {
    old = std::find_if(old, before.buckets.end(), [&](const auto& one) { return one.up_to >= each.up_to; });
    const auto then = old != before.buckets.end() && old->up_to == each.up_to ? old->count : 0;
    if (each.count <= then)
      continue;
    result.buckets.push_back({each.up_to, each.count - then});
    result.count += each.count - then;
  }
  if (result.count == 0)
    return result;
  result.sum = std::max(now.sum - before.sum, std::chrono::nanoseconds{0});
  result.max = std::min(result.buckets.back().up_to, now.max);
  find_percentiles(result);
  return result;
}

} // namespace troupe
