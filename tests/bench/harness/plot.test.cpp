// The parts that plots draw, and the parts that they omit.
#include "harness/plot.hpp"

#include "harness/drawing.hpp"
#include "well_formed.hpp"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const axis sizes{.label = "size", .scale = axis_scale::logarithmic, .numbers = axis_numbers::bytes};
const axis rates{.label = "messages a second", .scale = axis_scale::logarithmic};

line_chart two_series() {
  return {.title = "One way",
          .x = sizes,
          .y = rates,
          .series = {{"typed, unix", {{8, 1e6, spread{9e5, 1.2e6}}, {64, 9e5}, {4096, 2e5}}},
                     {"json, tcp", {{8, 1e5}, {64, 9e4}}}},
          .notes = {"A machine."}};
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
    ++found;
  return found;
}

TEST(plot, a_chart_of_lines_shows_all_that_it_was_given) {
  const auto svg = svg_of(two_series());
  EXPECT_EQ(wrong_with(svg), "");
  EXPECT_THAT(svg,
              AllOf(HasSubstr(">One way</text>"), HasSubstr(">size</text>"), HasSubstr(">messages a second</text>"),
                    HasSubstr(">typed, unix</text>"), HasSubstr(">json, tcp</text>"), HasSubstr(">A machine.</text>"),
                    HasSubstr(">512 B</text>"), HasSubstr(">1 M</text>"), Not(HasSubstr("nan"))));
}

TEST(plot, several_charts_are_one_document) {
  const auto svg = svg_of("All & more", {two_series(), two_series()});
  EXPECT_EQ(wrong_with(svg), "");
  EXPECT_EQ(count(svg, ">One way</text>"), 2u);
  EXPECT_THAT(svg, HasSubstr("<title>All &amp; more</title>"));
}

TEST(plot, the_same_values_give_the_same_text) {
  EXPECT_EQ(svg_of(two_series()), svg_of(two_series()));
}

TEST(plot, it_brings_a_background_of_its_own) {
  EXPECT_THAT(svg_of(two_series()), HasSubstr("fill=\"#ffffff\"/>\n"));
}

TEST(plot, series_differ_by_stroke_and_marker) {
  const auto svg = svg_of(two_series());
  EXPECT_EQ(count(svg, "stroke-dasharray=\"7 3\""), 2u) << "the second series and its line in the legend";
  EXPECT_EQ(count(svg, "d=\"M-4 0A"), 3u + 1) << "the first one's points and the legend";
  EXPECT_EQ(count(svg, "d=\"M-3.5 -3.5H"), 2u + 1);
}

TEST(plot, more_series_than_styles_are_drawn_all_the_same) {
  auto chart = two_series();
  for (int i = 0; i < 40; ++i)
    chart.series.push_back({"series with a long name, number " + std::to_string(i), {{8, 10.0 + i}}});
  const auto svg = svg_of(chart);
  EXPECT_EQ(wrong_with(svg), "");
  EXPECT_THAT(svg, HasSubstr("number 39</text>"));
}

TEST(plot, names_are_escaped) {
  auto chart = two_series();
  chart.title = "<script>alert(\"&\")</script> \x01 \xff \xc3\xa9 \xed\xa0\x80";
  chart.series.front().name = "a < b && c";
  chart.notes = {"</text>"};
  chart.x.label = "\"size\"";
  const auto svg = svg_of(chart);
  EXPECT_EQ(wrong_with(svg), "");
  EXPECT_THAT(svg, AllOf(HasSubstr("&lt;script&gt;alert(&quot;&amp;&quot;)&lt;/script&gt; ? ? \xc3\xa9 ???"),
                         HasSubstr(">a &lt; b &amp;&amp; c</text>"), HasSubstr(">&lt;/text&gt;</text>"),
                         Not(HasSubstr("<script"))));
}

TEST(plot, a_single_point_is_a_chart) {
  const auto svg = svg_of(line_chart{"One", sizes, rates, {{"only", {{64, 10}}}}});
  EXPECT_EQ(wrong_with(svg), "");
  EXPECT_EQ(count(svg, "d=\"M-4 0A"), 1u + 1);
  EXPECT_THAT(svg, AllOf(Not(HasSubstr("nan")), Not(HasSubstr("inf")), Not(HasSubstr("no values"))));
}

TEST(plot, what_a_logarithmic_axis_cannot_show_breaks_the_line_and_is_told) {
  const auto svg = svg_of(
      line_chart{"Zero",
                 sizes,
                 rates,
                 {{"s", {{8, 10}, {16, 0}, {32, -1}, {64, 20}, {128, std::numeric_limits<double>::quiet_NaN()}}}}});
  EXPECT_EQ(wrong_with(svg), "");
  EXPECT_EQ(count(svg, "d=\"M-4 0A"), 2u + 1);
  EXPECT_THAT(svg, HasSubstr("3 values are left out: not a number that this axis can show."));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

TEST(plot, nothing_is_said_to_be_nothing) {
  for (const auto& svg :
       {svg_of(line_chart{"None", sizes, rates, {}}), svg_of(line_chart{"None", sizes, rates, {{"s", {}}}}),
        svg_of(bar_chart{"None", rates, {}})}) {
    EXPECT_EQ(wrong_with(svg), "");
    EXPECT_THAT(svg, HasSubstr(">no values</text>"));
  }
}

TEST(plot, bars_show_labels_values_and_spreads) {
  const auto svg =
      svg_of(bar_chart{.title = "Rates",
                       .values = {.label = "messages a second"},
                       .bars = {{"troupe-unix", "", 3'350'000, spread{3e6, 3.5e6}}, {"caf-basp", "", 220'000}}});
  EXPECT_EQ(wrong_with(svg), "");
  EXPECT_THAT(svg, AllOf(HasSubstr(">troupe-unix</text>"), HasSubstr(">3.35 M</text>"), HasSubstr(">220 k</text>")));
  EXPECT_EQ(count(svg, "fill=\"url(#bars0)\""), 2u) << "no legend for a single series";
}

TEST(plot, bars_of_several_series_are_hatched_and_have_a_legend) {
  const auto svg =
      svg_of(bar_chart{"Rates", rates, {{"one-way", "typed", 10}, {"one-way", "json", 3}, {"echo", "typed", 5}}});
  EXPECT_EQ(wrong_with(svg), "");
  EXPECT_EQ(count(svg, "fill=\"url(#bars0)\""), 2u + 1);
  EXPECT_EQ(count(svg, "fill=\"url(#bars1)\""), 1u + 1);
  EXPECT_EQ(count(svg, ">one-way</text>"), 1u) << "a group shows its label once";
  EXPECT_THAT(svg, AllOf(HasSubstr(">typed</text>"), HasSubstr(">json</text>")));
}

TEST(plot, a_bar_that_the_axis_cannot_show_keeps_its_place_and_its_value) {
  const auto svg = svg_of(bar_chart{"Rates", rates, {{"a", "", 10}, {"b", "", 0}, {"c", "", -2.5}}});
  EXPECT_EQ(wrong_with(svg), "");
  EXPECT_EQ(count(svg, "fill=\"url(#bars0)\""), 1u);
  EXPECT_THAT(svg, AllOf(HasSubstr(">b</text>"), HasSubstr(">0</text>"), HasSubstr(">-2.5</text>"),
                         HasSubstr("2 values are left out")));
}

TEST(plot, long_texts_are_broken_or_shortened) {
  const std::string words = "word word word word word word word word word word word word";
  EXPECT_THAT(wrapped(words, 20),
              testing::Each(testing::ResultOf([](const std::string& each) { return each.size(); }, testing::Le(20u))));
  EXPECT_EQ(wrapped("abcdef", 4), (std::vector<std::string>{"abcd", "ef"}));
  EXPECT_EQ(wrapped("", 4), std::vector<std::string>{});
  EXPECT_EQ(shortened("abcdef", 5), "ab...");
  EXPECT_EQ(shortened("abcde", 5), "abcde");
}

} // namespace
} // namespace bench::tests
