// The statistics of the values of several rounds.
#include "harness/statistics.hpp"

#include <gtest/gtest.h>

namespace bench::tests {
namespace {

const quantity sending_rate{"one-way", "msg/s"};
const quantity time{"round trip", "us"};

TEST(statistics, the_median_is_the_middle_value) {
  EXPECT_EQ(median({5, 1, 3}), 3);
  EXPECT_EQ(median({7}), 7);
}

TEST(statistics, the_median_of_an_even_number_is_between_the_two_in_the_middle) {
  EXPECT_EQ(median({4, 1, 2, 100}), 3);
}

TEST(statistics, a_percentile_is_one_of_the_values) {
  std::vector<double> values;
  for (int i = 100; i > 0; --i)
    values.push_back(i);
  EXPECT_EQ(percentile(values, 50), 50);
  EXPECT_EQ(percentile(values, 99), 99);
  EXPECT_EQ(percentile(values, 100), 100);
  EXPECT_EQ(percentile(values, 0), 1);
  EXPECT_EQ(percentile({3}, 99), 3);
}

TEST(statistics, a_row_has_the_median_and_the_range_of_its_rounds) {
  results all;
  all.add(sending_rate, "ours", 1, 30);
  all.add(sending_rate, "ours", 2, 10);
  all.add(sending_rate, "ours", 3, 20);
  const auto rows = all.rows({});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].median, 20);
  EXPECT_EQ(rows[0].min, 10);
  EXPECT_EQ(rows[0].max, 30);
  EXPECT_TRUE(rows[0].ratio_to.empty());
}

// Goal: a machine that is slow during one round does not change a ratio.
// Method: in round 2 both subjects are ten times slower. The ratio of the medians would be 300 / 100; the ratios of the
// rounds are 3, 4 and 5.
TEST(statistics, ratios_are_taken_round_by_round) {
  results all;
  for (const auto& [round, ours, theirs] : {std::tuple{1, 300, 100}, {2, 40, 10}, {3, 550, 110}}) {
    all.add(sending_rate, "ours", round, ours);
    all.add(sending_rate, "theirs", round, theirs);
  }
  const auto rows = all.rows({"theirs"});
  EXPECT_EQ(find_row(rows, "one-way", "ours")->ratio_to.at("theirs"), 4);
  EXPECT_TRUE(find_row(rows, "one-way", "theirs")->ratio_to.empty());
}

TEST(statistics, a_round_that_one_of_two_lacks_is_left_out_of_their_ratio) {
  results all;
  all.add(sending_rate, "ours", 1, 20);
  all.add(sending_rate, "ours", 2, 99);
  all.add(sending_rate, "theirs", 1, 10);
  all.add(sending_rate, "theirs", 3, 1);
  EXPECT_EQ(find_row(all.rows({"theirs"}), "one-way", "ours")->ratio_to.at("theirs"), 2);
}

TEST(statistics, peers_without_a_round_in_common_have_no_ratio) {
  results all;
  all.add(sending_rate, "ours", 1, 20);
  all.add(sending_rate, "theirs", 2, 10);
  EXPECT_TRUE(find_row(all.rows({"theirs", "nobody"}), "one-way", "ours")->ratio_to.empty());
}

TEST(statistics, rows_are_grouped_by_quantity_in_the_order_of_their_appearance) {
  results all;
  for (const auto* subject : {"b", "a"}) {
    all.add(time, subject, 1, 1);
    all.add(sending_rate, subject, 1, 1);
  }
  std::string order;
  for (const auto& row : all.rows({}))
    order += row.what.unit + row.subject + ' ';
  EXPECT_EQ(order, "usb usa msg/sb msg/sa ");
}

TEST(statistics, a_row_that_is_not_there_is_not_found) {
  results all;
  all.add(sending_rate, "ours", 1, 1);
  const auto rows = all.rows({});
  EXPECT_EQ(find_row(rows, "one-way", "theirs"), nullptr);
  EXPECT_EQ(find_row(rows, "round trip", "ours"), nullptr);
}

} // namespace
} // namespace bench::tests
