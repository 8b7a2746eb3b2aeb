// Goal: histograms tell what they promise of any values, to the precision of their scale.
#include <troupe/base/histogram.hpp>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace troupe::tests {
namespace {

constexpr auto largest = std::numeric_limits<std::uint64_t>::max();

TEST(log_linear_scale, gives_each_value_to_the_bucket_whose_bounds_it_has) {
  std::mt19937_64 random{1};
  for (unsigned bits = 1; bits <= 16; ++bits) {
    const log_linear_scale scale{bits};
    const auto check = [&](std::uint64_t value) {
      const auto bucket = scale.bucket_of(value);
      ASSERT_LT(bucket, scale.buckets());
      ASSERT_LE(scale.lowest_in(bucket), value) << bits;
      ASSERT_GE(scale.highest_in(bucket), value) << bits;
    };
    for (unsigned power = 0; power < 64; ++power)
      for (const std::uint64_t step : {std::uint64_t{0}, std::uint64_t{1}, largest})
        check((std::uint64_t{1} << power) + step);
    for (auto round = 0; round < 1'000; ++round)
      check(random() >> (random() % 64));
    check(largest);
  }
}

TEST(log_linear_scale, has_buckets_without_gaps_that_are_narrow_for_their_values) {
  const log_linear_scale scale{8};
  for (std::size_t bucket = 0; bucket + 1 < scale.buckets(); ++bucket) {
    ASSERT_EQ(scale.highest_in(bucket) + 1, scale.lowest_in(bucket + 1)) << bucket;
    const auto width = scale.highest_in(bucket) - scale.lowest_in(bucket);
    ASSERT_LE(static_cast<double>(width), static_cast<double>(scale.lowest_in(bucket)) / 128) << bucket;
  }
  EXPECT_EQ(scale.highest_in(scale.buckets() - 1), largest);
}

TEST(a_histogram, has_the_percentiles_of_the_values_to_its_precision) {
  std::mt19937_64 random{2};
  std::lognormal_distribution<double> latency{10, 2};
  std::vector<std::uint64_t> values(20'000);
  histogram counted;
  for (auto& value : values) {
    value = static_cast<std::uint64_t>(latency(random));
    counted.add(value);
  }
  std::ranges::sort(values);
  EXPECT_EQ(counted.count(), values.size());
  EXPECT_EQ(counted.min(), values.front());
  EXPECT_EQ(counted.max(), values.back());
  // Percentiles, and how many of the values they include.
  for (const auto& [percent, included] : std::vector<std::pair<double, std::size_t>>{{0, 1},
                                                                                     {1, 200},
                                                                                     {25, 5'000},
                                                                                     {50, 10'000},
                                                                                     {90, 18'000},
                                                                                     {99, 19'800},
                                                                                     {99.9, 19'980},
                                                                                     {99.99, 19'998},
                                                                                     {100, 20'000}}) {
    const auto exact = static_cast<double>(values[included - 1]);
    const auto told = static_cast<double>(counted.percentile(percent));
    EXPECT_GE(told, exact) << percent;
    EXPECT_LE(told, exact * (1 + 1.0 / 128) + 1) << percent;
  }
  double sum = 0;
  for (const auto value : values)
    sum += static_cast<double>(value);
  EXPECT_NEAR(counted.mean(), sum / 20'000, sum / 20'000 / 128);
}

TEST(a_histogram, is_zero_without_values) {
  const histogram none;
  EXPECT_EQ(none.count(), 0u);
  EXPECT_EQ(none.min(), 0u);
  EXPECT_EQ(none.max(), 0u);
  EXPECT_EQ(none.percentile(99), 0u);
  EXPECT_EQ(none.mean(), 0);
  EXPECT_EQ(none.standard_deviation(), 0);
}

TEST(a_histogram, adds_another_one) {
  histogram one;
  histogram other;
  histogram both;
  for (std::uint64_t value = 1; value < 5'000'000; value = value * 3 / 2 + 1) {
    (value % 2 == 0 ? one : other).add(value, 3);
    both.add(value, 3);
  }
  one.add(other);
  one.add(histogram{});
  EXPECT_EQ(one.hgrm(), both.hgrm());
  EXPECT_EQ(one.count(), both.count());
}

TEST(a_histogram, takes_the_largest_value_and_counts_many_at_once) {
  histogram counted;
  counted.add(largest);
  counted.add(0, 999);
  counted.add(7, 0);
  EXPECT_EQ(counted.count(), 1'000u);
  EXPECT_EQ(counted.max(), largest);
  EXPECT_EQ(counted.percentile(99.9), 0u);
  EXPECT_EQ(counted.percentile(100), largest);
}

TEST(a_histogram, is_written_as_hdr_histogram_writes_it) {
  histogram counted;
  counted.add(1'003, 98);
  counted.add(2'007);
  counted.add(4'000);
  EXPECT_EQ(
      counted.hgrm(1'000, " of a test"), R"(# of a test
       Value     Percentile TotalCount 1/(1-Percentile)

       1.003 0.000000000000         98           1.00
)" + [] {
        // The levels up to 98 %: five for each halving of the rest.
        std::string lines;
        for (const auto* level :
             {"0.100000000000         98           1.11", "0.200000000000         98           1.25",
              "0.300000000000         98           1.43", "0.400000000000         98           1.67",
              "0.500000000000         98           2.00", "0.550000000000         98           2.22",
              "0.600000000000         98           2.50", "0.650000000000         98           2.86",
              "0.700000000000         98           3.33", "0.750000000000         98           4.00",
              "0.775000000000         98           4.44", "0.800000000000         98           5.00",
              "0.825000000000         98           5.71", "0.850000000000         98           6.67",
              "0.875000000000         98           8.00", "0.887500000000         98           8.89",
              "0.900000000000         98          10.00", "0.912500000000         98          11.43",
              "0.925000000000         98          13.33", "0.937500000000         98          16.00",
              "0.943750000000         98          17.78", "0.950000000000         98          20.00",
              "0.956250000000         98          22.86", "0.962500000000         98          26.67",
              "0.968750000000         98          32.00", "0.971875000000         98          35.56",
              "0.975000000000         98          40.00", "0.978125000000         98          45.71"})
          lines += "       1.003 " + std::string{level} + '\n';
        return lines;
      }() + R"(       2.007 0.981250000000         99          53.33
       2.007 0.984375000000         99          64.00
       2.007 0.985937500000         99          71.11
       2.007 0.987500000000         99          80.00
       2.007 0.989062500000         99          91.43
       4.000 1.000000000000        100
#[Mean    =        1.043, StdDeviation   =        0.313]
#[Max     =        4.000, Total count    =          100]
#[Buckets =          763, SubBuckets     =          256]
)");
}

} // namespace
} // namespace troupe::tests
