// The parts that plots draw, and the parts that they omit.
#include "harness/plot.hpp"

#include "well_formed.hpp"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const axis sizes{.label = "size", .numbers = axis_numbers::bytes};
const axis rates{.label = "messages a second"};

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

/// The document, which must be well-formed.
std::string svg_of(const auto& charts) {
  const auto svg = drawn(script_of(charts));
  EXPECT_TRUE(svg) << svg.error();
  EXPECT_EQ(wrong_with(svg.value_or("")), "");
  return svg.value_or("");
}

std::string svg_of(const line_chart& chart) {
  return svg_of(std::vector{chart});
}

TEST(plot, a_chart_of_lines_shows_all_that_it_was_given) {
  EXPECT_THAT(svg_of(two_series()),
              AllOf(HasSubstr(">One way<"), HasSubstr(">size<"), HasSubstr(">messages a second<"),
                    HasSubstr(">typed, unix<"), HasSubstr(">json, tcp<"), HasSubstr(">A machine.<"),
                    HasSubstr(">1 KiB<"), HasSubstr(">1 M<"), HasSubstr("fill=\"#ffffff\"")));
}

TEST(plot, several_charts_are_one_document) {
  EXPECT_EQ(count(svg_of(std::vector{two_series(), two_series()}), ">One way<"), 2u);
}

TEST(plot, the_same_values_give_the_same_text) {
  EXPECT_EQ(svg_of(two_series()), svg_of(two_series()));
}

TEST(plot, series_differ_by_color_stroke_and_marker) {
  const auto script = script_of(std::vector{two_series()});
  EXPECT_THAT(script, AllOf(HasSubstr("lc rgb '#0072b2' dt solid lw 1.7 pt 7"),
                            HasSubstr("lc rgb '#d55e00' dt (9,4) lw 1.7 pt 5")));
}

TEST(plot, more_series_than_styles_are_drawn_all_the_same) {
  auto chart = two_series();
  for (int i = 0; i < 40; ++i)
    chart.series.push_back({"series with a long name, number " + std::to_string(i), {{8, 10.0 + i}}});
  EXPECT_THAT(svg_of(chart), HasSubstr("number 39<"));
}

TEST(plot, names_are_no_commands_and_no_markup) {
  auto chart = two_series();
  chart.title = "<script>alert(\"&\")</script> \x01 \xff \xc3\xa9 \xed\xa0\x80";
  chart.series.front().name = "a < b && c' ; set output '/dev/full";
  chart.notes = {"</text>\nEOD\nexit"};
  chart.x.label = "`false` $b0 {/Symbol a} \\ %s";
  const auto svg = svg_of(chart);
  EXPECT_THAT(svg,
              AllOf(HasSubstr("&lt;script>alert("), HasSubstr(" \xc3\xa9 "),
                    HasSubstr(">a &lt; b &amp;&amp; c' ; set output '/dev/full<"), HasSubstr("&lt;/text>?EOD?exit<"),
                    HasSubstr("`false` $b0 {/Symbol a} \\ %s<"), Not(HasSubstr("<script"))));
}

TEST(plot, a_single_point_is_a_chart) {
  EXPECT_THAT(svg_of(line_chart{"One", sizes, rates, {{"only", {{64, 10}}}}}),
              AllOf(Not(HasSubstr("nan")), HasSubstr(">only<"), Not(HasSubstr("no values"))));
}

TEST(plot, what_an_axis_cannot_show_breaks_the_line_and_is_told) {
  const line_chart chart{
      "Zero",
      sizes,
      rates,
      {{"s",
        {{8, 10}, {16, 0}, {32, -1}, {64, 20}, {128, std::numeric_limits<double>::quiet_NaN()}, {256, INFINITY}}}}};
  EXPECT_THAT(script_of(std::vector{chart}), HasSubstr("8 10 10 10\n\n\n64 20 20 20\n\n\nEOD"));
  EXPECT_THAT(svg_of(chart),
              AllOf(HasSubstr("4 values are left out: not a number that this axis can show."), Not(HasSubstr("nan"))));
}

TEST(plot, nothing_is_said_to_be_nothing) {
  EXPECT_THAT(svg_of(line_chart{"None", sizes, rates, {}}), HasSubstr(">no values<"));
  EXPECT_THAT(svg_of(line_chart{"None", sizes, rates, {{"s", {}}}}), HasSubstr(">no values<"));
  EXPECT_THAT(svg_of(bar_chart{"None", rates, {}}), HasSubstr(">no values<"));
}

TEST(plot, bars_show_labels_values_and_spreads) {
  const bar_chart chart{.title = "Rates",
                        .values = {.label = "messages a second"},
                        .bars = {{"troupe-unix", "", 3'350'000, spread{3e6, 3.5e6}}, {"caf-basp", "", 220'000}}};
  EXPECT_THAT(svg_of(chart), AllOf(HasSubstr(">troupe-unix<"), HasSubstr(">3.35 M<"), HasSubstr(">220 k<")));
  EXPECT_THAT(script_of(chart), HasSubstr("3350000 0.8 3000000 3500000 \"3.35 M\"\n"));
}

TEST(plot, bars_of_several_series_differ_in_color_and_have_a_legend) {
  const bar_chart chart{"Rates", rates, {{"one-way", "typed", 10}, {"one-way", "json", 3}, {"echo", "typed", 5}}};
  const auto svg = svg_of(chart);
  EXPECT_EQ(count(svg, ">one-way<"), 1u) << "a group shows its label once";
  EXPECT_THAT(svg, AllOf(HasSubstr(">typed<"), HasSubstr(">json<")));
  EXPECT_THAT(script_of(chart), AllOf(HasSubstr("'#0072b2' fs solid"), HasSubstr("'#d55e00' fs solid 0.6")));
}

TEST(plot, a_bar_that_the_axis_cannot_show_keeps_its_place_and_its_value) {
  EXPECT_THAT(svg_of(bar_chart{"Rates", rates, {{"a", "", 10}, {"b", "", 0}, {"c", "", -2.5}, {"d", "", NAN}}}),
              AllOf(HasSubstr(">b<"), HasSubstr(">0<"), HasSubstr(">-2.5<"), HasSubstr(">no number<"),
                    HasSubstr("3 values are left out")));
  EXPECT_THAT(svg_of(bar_chart{"Rates", rates, {{"b", "", 0}}}), HasSubstr("1 value is left out"));
}

TEST(plot, a_long_note_is_broken_into_lines) {
  auto chart = two_series();
  chart.notes = {std::string(150, 'a') + ' ' + std::string(120, 'b')};
  EXPECT_THAT(svg_of(chart),
              AllOf(HasSubstr('>' + std::string(125, 'a') + '<'), HasSubstr('>' + std::string(25, 'a') + '<'),
                    HasSubstr('>' + std::string(120, 'b') + '<')));
}

TEST(plot, a_script_that_gnuplot_refuses_is_an_error) {
  EXPECT_EQ(drawn("plot nothing at all\n").error(), "gnuplot cannot draw the plot");
}

TEST(plot, numbers_are_written_with_three_digits_and_a_prefix) {
  EXPECT_EQ(number_text(0, axis_numbers::plain), "0");
  EXPECT_EQ(number_text(0.25, axis_numbers::plain), "0.25");
  EXPECT_EQ(number_text(999.9, axis_numbers::plain), "1 k");
  EXPECT_EQ(number_text(1'530'000, axis_numbers::plain), "1.53 M");
  EXPECT_EQ(number_text(1000, axis_numbers::bytes), "1000 B");
  EXPECT_EQ(number_text(65536, axis_numbers::bytes), "64 KiB");
  EXPECT_EQ(number_text(0, axis_numbers::seconds), "0 s");
  EXPECT_EQ(number_text(2e-5, axis_numbers::seconds), "20 us");
  EXPECT_EQ(number_text(90, axis_numbers::seconds), "90 s");
}

} // namespace
} // namespace bench::tests
