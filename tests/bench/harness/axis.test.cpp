// The places and labels of ticks.
#include "harness/axis.hpp"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::tests {
namespace {

using testing::ElementsAre;

std::vector<std::string> texts(const axis& what, std::vector<double> values, std::size_t count_max = 10) {
  std::vector<std::string> found;
  for (const auto& each : fitted_axis{what, values}.ticks(count_max))
    found.push_back(each.text);
  return found;
}

constexpr auto logarithmic = axis_scale::logarithmic;

TEST(axis, a_linear_one_begins_at_zero_and_ends_at_a_round_number) {
  EXPECT_THAT(texts({.label = ""}, {3, 9.3}), ElementsAre("0", "2", "4", "6", "8", "10"));
  EXPECT_THAT(texts({.label = ""}, {-30, 40}), ElementsAre("-30", "-20", "-10", "0", "10", "20", "30", "40"));
  const fitted_axis ends{{.label = ""}, std::vector{3.0, 9.3}};
  EXPECT_DOUBLE_EQ(ends.position(0).value(), 0);
  EXPECT_DOUBLE_EQ(ends.position(10).value(), 1);
}

TEST(axis, a_logarithmic_one_of_plain_numbers_has_powers_of_ten) {
  EXPECT_THAT(texts({.label = "", .scale = logarithmic}, {30, 2e6}),
              ElementsAre("10", "100", "1 k", "10 k", "100 k", "1 M", "10 M"));
}

TEST(axis, a_logarithmic_one_over_little_has_ticks_in_between) {
  EXPECT_THAT(texts({.label = "", .scale = logarithmic}, {30, 150}), ElementsAre("20", "50", "100", "200"));
}

TEST(axis, a_logarithmic_one_of_bytes_has_powers_of_two) {
  const axis sizes{.label = "", .scale = logarithmic, .numbers = axis_numbers::bytes};
  EXPECT_THAT(texts(sizes, {8, 64}), ElementsAre("8 B", "16 B", "32 B", "64 B"));
  EXPECT_THAT(texts(sizes, {8, double{1 << 30}}, 12),
              ElementsAre("8 B", "64 B", "512 B", "4 KiB", "32 KiB", "256 KiB", "2 MiB", "16 MiB", "128 MiB", "1 GiB"));
}

TEST(axis, a_single_value_lies_on_an_axis_that_reaches_somewhere) {
  for (const auto scale : {axis_scale::linear, axis_scale::logarithmic})
    for (const auto value : {1.0, 7.0, 1000.0, 1e-9}) {
      const fitted_axis one{{.label = "", .scale = scale}, std::vector{value}};
      EXPECT_GE(one.position(value).value(), -1e-9);
      EXPECT_LE(one.position(value).value(), 1 + 1e-9);
      EXPECT_GE(one.ticks(10).size(), 2u);
    }
}

TEST(axis, a_logarithmic_one_cannot_show_what_is_not_above_zero) {
  const fitted_axis one{{.label = "", .scale = logarithmic}, std::vector{-5.0, 0.0, 10.0, 100.0}};
  EXPECT_FALSE(one.position(0));
  EXPECT_FALSE(one.position(-5));
  EXPECT_DOUBLE_EQ(one.position(10).value(), 0);
  EXPECT_DOUBLE_EQ(one.position(100).value(), 1);
}

TEST(axis, what_is_not_finite_is_on_none) {
  for (const auto scale : {axis_scale::linear, axis_scale::logarithmic}) {
    const fitted_axis one{{.label = "", .scale = scale}, std::vector{std::numeric_limits<double>::infinity(), 2.0}};
    EXPECT_FALSE(one.position(std::numeric_limits<double>::infinity()));
    EXPECT_FALSE(one.position(std::numeric_limits<double>::quiet_NaN()));
    EXPECT_TRUE(one.position(2));
  }
}

TEST(axis, one_of_nothing_is_an_axis_still) {
  for (const auto scale : {axis_scale::linear, axis_scale::logarithmic})
    EXPECT_GE(texts({.label = "", .scale = scale}, {}).size(), 2u);
}

TEST(axis, there_are_never_more_ticks_than_allowed) {
  for (const auto scale : {axis_scale::linear, axis_scale::logarithmic})
    for (const auto numbers : {axis_numbers::plain, axis_numbers::bytes, axis_numbers::seconds})
      for (auto least = 1e-12; least < 1e12; least *= 7)
        for (auto greatest = least; greatest < 1e12; greatest *= 13) {
          const auto count = texts({.label = "", .scale = scale, .numbers = numbers}, {least, greatest}, 7).size();
          EXPECT_LE(count, 7u) << least << ' ' << greatest;
          EXPECT_GE(count, 2u) << least << ' ' << greatest;
        }
}

TEST(axis, the_greatest_and_least_numbers_do_no_harm) {
  constexpr auto greatest = std::numeric_limits<double>::max();
  for (const auto scale : {axis_scale::linear, axis_scale::logarithmic})
    EXPECT_LE(
        texts({.label = "", .scale = scale}, {-greatest, std::numeric_limits<double>::denorm_min(), greatest}).size(),
        10u);
}

TEST(axis, numbers_have_prefixes) {
  EXPECT_EQ(fitted_axis::text_of(0, axis_numbers::plain), "0");
  EXPECT_EQ(fitted_axis::text_of(0.25, axis_numbers::plain), "0.25");
  EXPECT_EQ(fitted_axis::text_of(999.9, axis_numbers::plain), "1 k");
  EXPECT_EQ(fitted_axis::text_of(1'530'000, axis_numbers::plain), "1.53 M");
  EXPECT_EQ(fitted_axis::text_of(1000, axis_numbers::bytes), "1000 B");
  EXPECT_EQ(fitted_axis::text_of(65536, axis_numbers::bytes), "64 KiB");
  EXPECT_EQ(fitted_axis::text_of(0, axis_numbers::seconds), "0 s");
  EXPECT_EQ(fitted_axis::text_of(2e-5, axis_numbers::seconds), "20 us");
  EXPECT_EQ(fitted_axis::text_of(90, axis_numbers::seconds), "90 s");
}

} // namespace
} // namespace bench::tests
