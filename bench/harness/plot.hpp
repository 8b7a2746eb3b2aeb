// Plots of results, as SVG: pictures that need no other program and look the same on light and dark pages.
//
// Series differ by stroke and marker, or by hatching, and not by colour alone. The same values give the same text, byte
// by byte. Names may hold anything: what XML has a use for is escaped, what it does not allow becomes '?'.
#pragma once

#include "harness/axis.hpp"

#include <optional>
#include <string>
#include <vector>

namespace bench {

/// From the least to the greatest of what was seen.
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
  std::vector<std::string> notes = {}; // Below the picture, a paragraph each: the machine, the date.
};

struct plot_bar {
  std::string label;  // Neighbours with the same label are a group, which shows it once.
  std::string series; // Named in the legend where there is more than one.
  double value = 0;
  std::optional<spread> seen = {};
};

/// Values side by side, from top to bottom. What each amounts to is written behind it.
struct bar_chart {
  std::string title;
  axis values;
  std::vector<plot_bar> bars;
  std::vector<std::string> notes = {};
};

/// A whole SVG document that ends with a line feed. What an axis cannot show (not finite, or not above 0 where it is
/// logarithmic) is left out: a line is broken there, a bar is missing. A note says how many values that were.
[[nodiscard]] std::string svg_of(const line_chart& chart);
[[nodiscard]] std::string svg_of(const bar_chart& chart);

/// Several of them below each other in one document of that title.
[[nodiscard]] std::string svg_of(const std::string& title, const std::vector<line_chart>& charts);

} // namespace bench
