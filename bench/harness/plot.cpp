#include "harness/plot.hpp"

#include "harness/drawing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string_view>

#include <fmt/format.h>

namespace bench {

namespace {

/// The look of one series. The colors are distinguishable without seeing red or green, and dark enough for thin lines
/// on white.
struct style {
  std::string_view colour;
  std::string_view dashes; // Empty for a solid line.
};

constexpr std::array<style, 8> styles{{{"#0072b2", ""},
                                       {"#d55e00", "7 3"},
                                       {"#00735c", "2 3"},
                                       {"#a0387c", "9 3 2 3"},
                                       {"#222222", "4 2"},
                                       {"#8a6d00", "12 4"},
                                       {"#3d85b8", "1 2"},
                                       {"#7a3b00", "9 3 2 3 2 3"}}};

/// A marker around (x, y). There are as many markers as styles, so that series differ in both.
std::string marker(std::size_t series, double x, double y) {
  const auto [colour, dashes] = styles[series % styles.size()];
  const auto polygon = [&](std::string_view points, bool is_filled) {
    return fmt::format(
        "<path transform=\"translate({} {})\" d=\"{}\" fill=\"{}\" stroke=\"{}\" stroke-width=\"1.5\"/>\n",
        coordinate(x), coordinate(y), points, is_filled ? colour : "#ffffff", colour);
  };
  constexpr std::string_view circle = "M-4 0A4 4 0 1 1 4 0A4 4 0 1 1 -4 0Z";
  constexpr std::string_view square = "M-3.5 -3.5H3.5V3.5H-3.5Z";
  constexpr std::string_view triangle = "M0 -4.5L4.5 3.5H-4.5Z";
  constexpr std::string_view diamond = "M0 -5L5 0L0 5L-5 0Z";
  constexpr std::array shapes{circle, square, triangle, diamond};
  // The ninth series has the first one's color and stroke, but another marker.
  const auto shape = (series + series / styles.size()) % styles.size();
  return polygon(shapes[shape % shapes.size()], shape < shapes.size());
}

/// A thin bar from the least to the greatest value, with feet. Requires: the two points are on a horizontal or vertical
/// line.
std::string spread_bar(double x1, double y1, double x2, double y2, std::string_view colour) {
  constexpr double foot = 3;
  const auto is_horizontal = y1 == y2;
  const auto across = is_horizontal ? 0 : foot;
  const auto along = is_horizontal ? foot : 0;
  return line(x1, y1, x2, y2, colour, 1) + line(x1 - across, y1 - along, x1 + across, y1 + along, colour, 1)
         + line(x2 - across, y2 - along, x2 + across, y2 + along, colour, 1);
}

/// Adds a note on how many values the axes cannot show.
std::vector<std::string> with_left_out(std::vector<std::string> notes, std::size_t count) {
  if (count > 0)
    notes.push_back(fmt::format("{} {} left out: not a number that this axis can show.", count,
                                count == 1 ? "value is" : "values are"));
  return notes;
}

/// The spread's positions on the axis, or nullopt if the axis cannot show them.
std::optional<spread> position_of(const std::optional<spread>& seen, const fitted_axis& values) {
  if (!seen)
    return std::nullopt;
  const auto min = values.position(seen->min);
  const auto max = values.position(seen->max);
  return min && max ? std::optional{spread{*min, *max}} : std::nullopt;
}

constexpr double plot_width = 860;
constexpr double side = 24;
constexpr double line_height = 17;

/// Title, legend and notes around the picture of a chart. The picture gets the rectangle that is left between them.
class frame {
public:
  /// Space at the picture's sides for labels and values, and the picture's height.
  struct margins {
    double left;
    double right;
    double inner_height;
  };

  frame(const std::string& title, std::vector<std::string> legend, const std::vector<std::string>& notes, margins room)
      : title_lines_(wrapped(title, 82)),
        left_(room.left),
        right_(plot_width - room.right),
        top_(side + 22 * static_cast<double>(title_lines_.size())),
        bottom_(top_ + room.inner_height) {
    for (const auto& note : notes)
      for (auto& each : wrapped(note, 125))
        note_lines_.push_back(std::move(each));
    place(std::move(legend));
    // Below the picture follow numbers, the axis's label, the legend and the notes.
    height_ = note_lines_.empty() ? legend_bottom_ + 20
                                  : notes_top() + line_height * static_cast<double>(note_lines_.size()) + 8;
  }

  [[nodiscard]] double x(double position) const { return left_ + position * (right() - left_); }
  [[nodiscard]] double y(double position) const { return bottom_ - position * (bottom_ - top_); }
  [[nodiscard]] double left() const { return left_; }
  [[nodiscard]] double right() const { return right_; }
  [[nodiscard]] double top() const { return top_; }
  [[nodiscard]] double bottom() const { return bottom_; }

  [[nodiscard]] double height() const { return height_; }

  /// The whole chart, with `picture` in the middle. `sample` draws a series's sample before its name, 28 pixels wide.
  template <class Sample>
  [[nodiscard]] std::string elements(const std::string& picture, Sample sample) const {
    std::string made;
    for (std::size_t i = 0; i < title_lines_.size(); ++i)
      made += text(side, side + 22 * static_cast<double>(i), title_lines_[i], {.size = 17, .is_bold = true});
    made += picture;
    for (std::size_t i = 0; i < legend_.size(); ++i) {
      made += sample(i, legend_[i].x, legend_[i].y);
      made += text(legend_[i].x + 36, legend_[i].y + 4, legend_[i].name, {});
    }
    for (std::size_t i = 0; i < note_lines_.size(); ++i)
      made += text(side, notes_top() + line_height * static_cast<double>(i), note_lines_[i],
                   {.size = 11, .colour = "#555555"});
    return made;
  }

private:
  struct entry {
    std::string name;
    double x;
    double y;
  };

  /// Puts as many names in a line as fit.
  void place(std::vector<std::string> names) {
    auto at = side;
    legend_bottom_ = bottom_ + 56;
    for (auto& name : names) {
      name = shortened(name, 100);
      const auto needed = 36 + text_width(name, 12) + 24;
      if (at > side && at + needed > plot_width - side) {
        at = side;
        legend_bottom_ += line_height + 3;
      }
      if (legend_.empty())
        legend_bottom_ += 12;
      legend_.push_back({std::move(name), at, legend_bottom_});
      at += needed;
    }
  }

  [[nodiscard]] double notes_top() const { return legend_bottom_ + 28; }

  std::vector<std::string> title_lines_;
  std::vector<std::string> note_lines_;
  std::vector<entry> legend_;
  double left_;
  double right_;
  double top_;
  double bottom_;
  double legend_bottom_ = 0;
  double height_ = 0;
};

constexpr text_look tick_text{.size = 11, .colour = "#333333"};

std::string horizontal_axis(const axis& what, const std::vector<tick>& ticks, const fitted_axis& fitted,
                            const frame& around) {
  std::string made;
  for (const auto& each : ticks) {
    const auto x = around.x(fitted.position(each.value).value_or(0));
    made += line(x, around.top(), x, around.bottom(), "#dddddd", 1);
    made += text(x, around.bottom() + 18, each.text, {.size = 11, .colour = "#333333", .anchor = "middle"});
  }
  made += line(around.left(), around.bottom(), around.right(), around.bottom(), "#333333", 1);
  return made
         + text(std::midpoint(around.left(), around.right()), around.bottom() + 40, what.label, {.anchor = "middle"});
}

std::string vertical_axis(const axis& what, const std::vector<tick>& ticks, const fitted_axis& fitted,
                          const frame& around) {
  std::string made;
  for (const auto& each : ticks) {
    const auto y = around.y(fitted.position(each.value).value_or(0));
    made += line(around.left(), y, around.right(), y, "#dddddd", 1);
    made += text(around.left() - 8, y + 4, each.text, {.size = 11, .colour = "#333333", .anchor = "end"});
  }
  made += line(around.left(), around.top(), around.left(), around.bottom(), "#333333", 1);
  return made + upright_text(side - 4, std::midpoint(around.top(), around.bottom()), what.label);
}

std::string no_values(const frame& around) {
  return text(std::midpoint(around.left(), around.right()), std::midpoint(around.top(), around.bottom()), "no values",
              {.colour = "#555555", .anchor = "middle"});
}

/// All numbers of the chart along one of its axes.
std::vector<double> all_x(const line_chart& chart) {
  std::vector<double> made;
  for (const auto& each : chart.series)
    for (const auto& point : each.points)
      made.push_back(point.x);
  return made;
}

std::vector<double> all_y(const line_chart& chart) {
  std::vector<double> made;
  for (const auto& each : chart.series)
    for (const auto& point : each.points) {
      made.push_back(point.y);
      if (point.seen)
        made.insert(made.end(), {point.seen->min, point.seen->max});
    }
  return made;
}

/// One series. Its spreads are drawn first, then the line, then the markers.
class drawn_series {
public:
  drawn_series(const plot_series& series, std::size_t number, const fitted_axis& x, const fitted_axis& y,
               const frame& around)
      : number_(number) {
    for (const auto& point : series.points) {
      const auto across = x.position(point.x);
      const auto up = y.position(point.y);
      if (across && up)
        add(point, around.x(*across), around.y(*up), y, around);
      else
        skip();
    }
  }

  [[nodiscard]] std::string text() const {
    const auto [colour, dashes] = styles[number_ % styles.size()];
    return spreads_ + (path_.empty() ? "" : polyline(path_, colour, dashes)) + markers_;
  }
  [[nodiscard]] std::size_t left_out() const { return left_out_; }

private:
  void add(const plot_point& point, double x, double y, const fitted_axis& values, const frame& around) {
    path_ += fmt::format("{}{} {}", is_broken_ ? "M" : "L", coordinate(x), coordinate(y));
    is_broken_ = false;
    markers_ += marker(number_, x, y);
    if (const auto seen = position_of(point.seen, values))
      spreads_ += spread_bar(x, around.y(seen->min), x, around.y(seen->max), styles[number_ % styles.size()].colour);
  }

  void skip() {
    is_broken_ = true;
    ++left_out_;
  }

  std::size_t number_;
  std::string spreads_;
  std::string path_;
  std::string markers_;
  bool is_broken_ = true;
  std::size_t left_out_ = 0;
};

std::size_t count_left_out(const line_chart& chart, const fitted_axis& x, const fitted_axis& y) {
  std::size_t count = 0;
  for (const auto& each : chart.series)
    count += static_cast<std::size_t>(std::ranges::count_if(
        each.points, [&](const plot_point& point) { return !x.position(point.x) || !y.position(point.y); }));
  return count;
}

std::size_t count_points(const line_chart& chart) {
  std::size_t count = 0;
  for (const auto& each : chart.series)
    count += each.points.size();
  return count;
}

/// The left end of the picture that leaves enough space for the labels of a vertical axis.
double left_of(const std::vector<tick>& ticks) {
  double widest = 0;
  for (const auto& each : ticks)
    widest = std::max(widest, text_width(each.text, tick_text.size));
  return side + 20 + widest + 8;
}

/// The distinct names of the bars' series, in order of appearance.
std::vector<std::string> series_of(const bar_chart& chart) {
  std::vector<std::string> names;
  for (const auto& bar : chart.bars)
    if (std::ranges::find(names, bar.series) == names.end())
      names.push_back(bar.series);
  return names;
}

/// A hatching pattern that distinguishes a series without its color. The first one is plain.
std::string hatching(std::size_t series) {
  constexpr std::array<std::string_view, styles.size()> strokes{
      "", "M0 8L8 0", "M0 4H8", "M0 0L8 8", "M4 0V8", "M0 8L8 0M0 0L8 8", "M0 4H8M4 0V8", "M2 2H4V4H2Z"};
  return fmt::format("<pattern id=\"bars{}\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\">"
                     "<rect width=\"8\" height=\"8\" fill=\"{}\"/><path d=\"{}\" stroke=\"#ffffff\" "
                     "stroke-width=\"1.5\" fill=\"none\"/></pattern>\n",
                     series, styles[series].colour, strokes[series]);
}

std::string filled_bar(std::size_t series, double x, double y, double bar_width, double height) {
  return fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"url(#bars{})\"/>\n", coordinate(x),
                     coordinate(y), coordinate(bar_width), coordinate(height), series % styles.size());
}

constexpr double bar_height = 16;
constexpr double bar_gap = 4;
constexpr double group_gap = 10;

double bars_height(const std::vector<plot_bar>& bars) {
  double height = group_gap;
  for (std::size_t i = 0; i < bars.size(); ++i)
    height += bar_height + (i + 1 < bars.size() && bars[i].label == bars[i + 1].label ? bar_gap : group_gap);
  return std::max(height, 60.0);
}

/// One bar with its spread and its value, starting at `zero`.
std::string drawn_bar(const plot_bar& bar, std::size_t series, const axis& values, const fitted_axis& fitted,
                      const frame& around, double y) {
  const auto zero = around.x(values.scale == axis_scale::linear ? fitted.position(0).value_or(0) : 0);
  const auto position = fitted.position(bar.value);
  const auto end = position ? around.x(*position) : zero;
  std::string made;
  if (position)
    made += filled_bar(series, std::min(zero, end), y, std::abs(end - zero), bar_height);
  auto text_from = std::max(zero, end);
  const auto seen = position_of(bar.seen, fitted);
  if (position && seen) {
    const auto middle = y + bar_height / 2;
    made += spread_bar(around.x(seen->min), middle, around.x(seen->max), middle, "#000000");
    text_from = std::max(text_from, around.x(seen->max));
  }
  const auto value = std::isfinite(bar.value) ? fitted_axis::text_of(bar.value, values.numbers) : "no number";
  return made + text(text_from + 7, y + bar_height - 4, value, {.size = 11, .has_halo = true});
}

} // namespace

namespace {

/// A chart without the enclosing document.
struct drawing {
  std::string elements;
  double height;
};

drawing drawn(const line_chart& chart) {
  const fitted_axis x{chart.x, all_x(chart)};
  const fitted_axis y{chart.y, all_y(chart)};
  const auto x_ticks = x.ticks(12);
  const auto y_ticks = y.ticks(10);
  std::vector<std::string> names;
  for (const auto& each : chart.series)
    names.push_back(each.name);
  const auto left_out = count_left_out(chart, x, y);
  const frame around{chart.title, std::move(names), with_left_out(chart.notes, left_out), {left_of(y_ticks), 36, 360}};
  auto picture = horizontal_axis(chart.x, x_ticks, x, around) + vertical_axis(chart.y, y_ticks, y, around);
  for (std::size_t i = 0; i < chart.series.size(); ++i)
    picture += drawn_series{chart.series[i], i, x, y, around}.text();
  if (count_points(chart) == left_out)
    picture += no_values(around);
  auto elements = around.elements(picture, [](std::size_t series, double at_x, double at_y) {
    const auto [colour, dashes] = styles[series % styles.size()];
    return polyline(fmt::format("M{0} {1}L{2} {1}", coordinate(at_x), coordinate(at_y), coordinate(at_x + 28)), colour,
                    dashes)
           + marker(series, at_x + 14, at_y);
  });
  return {std::move(elements), around.height()};
}

} // namespace

std::string svg_of(const line_chart& chart) {
  const auto [elements, height] = drawn(chart);
  return document_begin(plot_width, height, chart.title) + elements + document_end();
}

std::string svg_of(const std::string& title, const std::vector<line_chart>& charts) {
  std::string all;
  double height = 0;
  for (const auto& each : charts) {
    const auto one = drawn(each);
    all += fmt::format("<g transform=\"translate(0 {})\">\n{}</g>\n", coordinate(height), one.elements);
    height += one.height;
  }
  return document_begin(plot_width, height, title) + all + document_end();
}

std::string svg_of(const bar_chart& chart) {
  std::vector<double> numbers;
  double widest = 0;
  constexpr std::size_t label_max = 40;
  for (const auto& bar : chart.bars) {
    numbers.push_back(bar.value);
    if (bar.seen)
      numbers.insert(numbers.end(), {bar.seen->min, bar.seen->max});
    if (chart.values.scale == axis_scale::logarithmic)
      numbers.push_back(bar.value / 2); // Gives the shortest bar a visible length.
    widest = std::max(widest, text_width(shortened(bar.label, label_max), 12));
  }
  const fitted_axis fitted{chart.values, numbers};
  const auto left_out = static_cast<std::size_t>(
      std::ranges::count_if(chart.bars, [&](const plot_bar& bar) { return !fitted.position(bar.value); }));
  const auto names = series_of(chart);
  const frame around{chart.title,
                     names.size() > 1 ? names : std::vector<std::string>{},
                     with_left_out(chart.notes, left_out),
                     {side + widest + 12, 72, bars_height(chart.bars)}};
  std::string picture = "<defs>\n";
  for (std::size_t i = 0; i < std::min(names.size(), styles.size()); ++i)
    picture += hatching(i);
  picture += "</defs>\n" + horizontal_axis(chart.values, fitted.ticks(10), fitted, around);
  auto y = around.top() + group_gap;
  for (std::size_t i = 0; i < chart.bars.size(); ++i) {
    const auto& bar = chart.bars[i];
    const auto series = static_cast<std::size_t>(std::ranges::find(names, bar.series) - names.begin());
    if (i == 0 || chart.bars[i - 1].label != bar.label)
      picture += text(around.left() - 8, y + bar_height - 4, shortened(bar.label, label_max), {.anchor = "end"});
    picture += drawn_bar(bar, series, chart.values, fitted, around, y);
    y += bar_height + (i + 1 < chart.bars.size() && chart.bars[i + 1].label == bar.label ? bar_gap : group_gap);
  }
  picture += line(around.left(), around.top(), around.left(), around.bottom(), "#333333", 1);
  if (chart.bars.empty())
    picture += no_values(around);
  const auto elements = around.elements(
      picture, [](std::size_t series, double at_x, double at_y) { return filled_bar(series, at_x, at_y - 6, 28, 12); });
  return document_begin(plot_width, around.height(), chart.title) + elements + document_end();
}

} // namespace bench
