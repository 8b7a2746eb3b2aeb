// Distributions of times: percentiles, sums and differences.
#include <troupe/framework/latency_stats.hpp>

#include <gtest/gtest.h>

#include <troupe/framework/internal/flow/latency_meter.hpp>

namespace troupe {
namespace {

using namespace std::chrono_literals;
using internal::latency_meter;
using internal::latency_sampler;
using std::chrono::nanoseconds;

std::uint64_t in_buckets(const latency_stats& of) {
  std::uint64_t sum = 0;
  for (const auto& each : of.buckets)
    sum += each.count;
  return sum;
}

TEST(latencies, nothing_measured_is_nothing_shown) {
  const auto none = latency_meter{}.stats();
  EXPECT_EQ(none.count, 0u);
  EXPECT_TRUE(none.buckets.empty());
  EXPECT_EQ(percentile(none, 99), 0ns);
}

TEST(latencies, each_time_is_in_a_bucket_that_ends_at_most_an_eighth_later) {
  for (nanoseconds time = 72ns; time < 270s; time = time * 9 / 8 + 1ns) {
    latency_meter meter;
    meter.add(time, 1);
    const auto seen = meter.stats();
    ASSERT_EQ(seen.buckets.size(), 1u);
    EXPECT_GE(seen.buckets[0].up_to, time);
    EXPECT_LE(seen.buckets[0].up_to, time + time / 8) << time.count();
    EXPECT_EQ(seen.p50, time) << "no percentile exceeds the longest time";
  }
}

TEST(latencies, times_beyond_the_range_are_in_the_first_and_the_last_bucket) {
  latency_meter meter;
  for (const nanoseconds time : {-5ns, 0ns, 1ns, 71ns})
    meter.add(time, 1);
  for (const nanoseconds time : {nanoseconds{300s}, nanoseconds{24h}})
    meter.add(time, 1);
  const auto seen = meter.stats();
  ASSERT_EQ(seen.buckets.size(), 2u);
  EXPECT_EQ(seen.buckets[0].count, 4u);
  EXPECT_EQ(seen.buckets[0].up_to, 71ns);
  EXPECT_EQ(seen.buckets[1].count, 2u);
  EXPECT_EQ(seen.max, nanoseconds{24h});
  EXPECT_EQ(seen.p99, nanoseconds{24h});
  EXPECT_EQ(seen.p50, 71ns);
}

TEST(latencies, a_time_counts_as_often_as_it_stands_for) {
  latency_meter meter;
  meter.add(1ms, 98);
  meter.add(1s, 2);
  const auto seen = meter.stats();
  EXPECT_EQ(seen.count, 100u);
  EXPECT_EQ(seen.sum, 98 * 1ms + 2s);
  EXPECT_EQ(seen.max, 1s);
  EXPECT_LT(seen.p50, 1125us);
  EXPECT_LT(percentile(seen, 98), 1125us);
  EXPECT_EQ(seen.p99, 1s);
}

TEST(latencies, the_first_32_events_are_timed_and_then_one_in_17_that_stands_for_all) {
  latency_sampler sampler;
  std::uint64_t timed = 0, stands_for = 0;
  for (int i = 0; i < 32; ++i)
    ASSERT_EQ(sampler.next(), 1u) << i;
  for (int i = 0; i < 17 * 100; ++i) {
    const auto more = sampler.next();
    timed += more > 0 ? 1 : 0;
    stands_for += more;
    ASSERT_EQ(more > 0, i % 17 == 16) << i;
  }
  EXPECT_EQ(timed, 100u);
  EXPECT_EQ(stands_for, 1700u);
}

// Goal: of requests that alternate between two kinds, both are seen.
TEST(latencies, events_in_a_pattern_are_sampled_evenly) {
  for (const int kinds : {2, 3, 4, 5, 8, 10, 16}) {
    latency_sampler sampler;
    std::vector<int> timed(static_cast<std::size_t>(kinds));
    for (int i = 0; i < 32 + 17 * kinds * 10; ++i)
      if (const auto stands_for = sampler.next(); stands_for > 0 && i >= 32)
        ++timed[static_cast<std::size_t>(i % kinds)];
    for (const auto count : timed)
      EXPECT_EQ(count, 10) << kinds;
  }
}

TEST(latencies, merged_ones_are_those_of_a_meter_that_has_measured_all) {
  latency_meter one, other, both;
  for (int i = 1; i <= 200; ++i) {
    (i % 3 == 0 ? one : other).add(i * 37us, 1);
    both.add(i * 37us, 1);
  }
  other.add(900s, 3);
  both.add(900s, 3);
  auto merged = one.stats();
  merge(merged, other.stats());
  merge(merged, {});
  const auto expected = both.stats();
  EXPECT_EQ(merged.count, expected.count);
  EXPECT_EQ(merged.sum, expected.sum);
  EXPECT_EQ(merged.max, expected.max);
  EXPECT_EQ(merged.p50, expected.p50);
  EXPECT_EQ(merged.p90, expected.p90);
  EXPECT_EQ(merged.p99, expected.p99);
  ASSERT_EQ(merged.buckets.size(), expected.buckets.size());
  for (std::size_t i = 0; i < merged.buckets.size(); ++i) {
    EXPECT_EQ(merged.buckets[i].up_to, expected.buckets[i].up_to);
    EXPECT_EQ(merged.buckets[i].count, expected.buckets[i].count);
  }
  latency_stats from_nothing;
  merge(from_nothing, expected);
  EXPECT_EQ(from_nothing.p90, expected.p90);
}

TEST(latencies, between_two_reports_are_those_that_came_since_the_first) {
  latency_meter meter;
  meter.add(10s, 5);
  meter.add(1ms, 5);
  const auto before = meter.stats();
  EXPECT_EQ(between(before, meter.stats()).count, 0u);
  EXPECT_TRUE(between(before, meter.stats()).buckets.empty());
  meter.add(1ms, 90);
  meter.add(2ms, 10);
  const auto since = between(before, meter.stats());
  EXPECT_EQ(since.count, 100u);
  EXPECT_EQ(in_buckets(since), 100u);
  EXPECT_EQ(since.sum, 90 * 1ms + 10 * 2ms);
  EXPECT_LT(since.p90, 1125us);
  EXPECT_GE(since.p99, 2ms);
  EXPECT_LT(since.max, 2250us) << "the longest time came before";
  EXPECT_EQ(between({}, before).count, 10u);
}

} // namespace
} // namespace troupe
