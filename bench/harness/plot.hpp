// Plots of results as SVG, which need no other program and look the same on light and dark pages.
//
// Series differ in stroke and marker, or in hatching, and not only in color. Equal values give byte-identical
// documents. Names may hold any text: XML's special characters are escaped, and disallowed ones become '?'.
#pragma once

#include "harness/axis.hpp"

#include <optional>
#include <string>
#include <vector>

namespace bench {

/// The least and the greatest observed value.
struct spread {
  double min = 0;
  double max = 0;
};

struct plot_point {
  double x = 0;
  double y = 0;
  std::optional<spread> seen = {}; // Drawn as a thin bar through the point.
};

struct plot_series {
  std::string name;
  std::vector<plot_point> points; // Connected in this order.
};

/// Values over a quantity, such as throughput over size.
struct line_chart {
  std::string title;
  axis x;
  axis y;
  std::vector<plot_series> series;
  std::vector<std::string> notes = {}; // Paragraphs below the picture, such as the machine and the date.
};

struct plot_bar {
  std::string label;  // Adjacent bars with the same label form a group, which shows the label once.
  std::string series; // Named in the legend if there are several series.
  double value = 0;
  std::optional<spread> seen = {};
};

/// Horizontal bars below each other, with their values written behind them.
struct bar_chart {
  std::string title;
  axis values;
  std::vector<plot_bar> bars;
  std::vector<std::string> notes = {};
};

/// A whole SVG document, which ends with a line feed. Values that an axis cannot show (not finite, or not above 0 on a
/// logarithmic axis) are left out: the line is broken there, or the bar is missing. A note gives their number.
[[nodiscard]] std::string svg_of(const line_chart& chart);
[[nodiscard]] std::string svg_of(const bar_chart& chart);

/// Several charts below each other in one document with `title`.
[[nodiscard]] std::string svg_of(const std::string& title, const std::vector<line_chart>& charts);

} // namespace bench
