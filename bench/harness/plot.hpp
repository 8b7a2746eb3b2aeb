// Plots of results as SVG, drawn by gnuplot.
//
// Series differ in color, stroke and marker. The colors are distinguishable without seeing red or green. Equal values
// give equal documents. Names may hold any text.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

namespace bench {

/// How the numbers of an axis are written, and the base of its logarithm.
enum class axis_numbers : std::uint8_t {
  plain,   ///< 1, 10, 1 k, 1 M; base 10.
  bytes,   ///< 8 B, 1 KiB, 1 MiB; base 2.
  seconds, ///< 10 ns, 1 us, 1 ms; base 10.
  /// The values are 1/(1 - p) for the share p: 1, 10 and 100 are written as 0 %, 90 % and 99 %; base 10.
  percentiles,
};

/// "1.5 M", "64 KiB", "20 us".
[[nodiscard]] std::string number_text(double value, axis_numbers numbers);

/// A logarithmic axis.
struct axis {
  std::string label; // With its unit, such as "messages a second".
  axis_numbers numbers = axis_numbers::plain;
};

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
  std::vector<std::string> notes = {}; // Lines below the picture, such as the machine and the date.
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

/// gnuplot's commands for one SVG document with these charts below each other. Values that an axis cannot show (not
/// finite, or not above 0) are left out: the line is broken there, or the bar is missing. A note gives their number.
[[nodiscard]] std::string script_of(const std::vector<line_chart>& charts);
[[nodiscard]] std::string script_of(const bar_chart& chart);
[[nodiscard]] std::string script_of(const bar_chart& first, const std::vector<line_chart>& others);

/// Runs gnuplot with a script of script_of() and returns the SVG document. Fails with a text, for example if gnuplot is
/// not installed.
[[nodiscard]] std::expected<std::string, std::string> drawn(const std::string& script);

/// Whether gnuplot can be run. To be asked before measurements that end in a plot.
[[nodiscard]] std::expected<void, std::string> can_draw();

} // namespace bench
