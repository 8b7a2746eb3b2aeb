#include "harness/plot.hpp"

#include <troupe/base/text.hpp>
#include <troupe/processes/process.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>

#include <fmt/format.h>

namespace bench {

namespace {

/// The look of one series. Lines are dashed, and their markers differ. Every second series of bars is paler, so that
/// neighbors differ without color as well.
struct style {
  std::string_view colour;
  std::string_view dashes;
  int marker;
};

constexpr std::array<style, 8> styles{{{"#0072b2", "solid", 7},
                                       {"#d55e00", "(9,4)", 5},
                                       {"#009e73", "(2,3)", 9},
                                       {"#a0387c", "(9,3,2,3)", 13},
                                       {"#222222", "(5,3)", 6},
                                       {"#b07d00", "(14,4)", 4},
                                       {"#56b4e9", "(3,2)", 8},
                                       {"#7a3b00", "(9,3,2,3,2,3)", 12}}};

// In pixels.
constexpr double width = 860;
constexpr double side = 24;
constexpr double title_height = 46;
constexpr double lines_height = 360;
constexpr double bar_height = 20;
constexpr double axis_height = 58;
constexpr double text_height = 18;

bool can_show(double value) {
  return std::isfinite(value) && value > 0;
}

std::string with_prefix(double value, double base, std::span<const std::string_view> prefixes) {
  std::size_t at = 0;
  // A value that rounds up to the base with three digits gets the next prefix.
  while (at + 1 < prefixes.size() && std::abs(value) >= base * (1 - 0.0005)) {
    value /= base;
    ++at;
  }
  return fmt::format("{:.{}g}{}", value, std::abs(value) >= 1000 ? 4 : 3, prefixes[at]);
}

/// A text as gnuplot reads it; gnuplot itself escapes what SVG does not allow.
std::string in_quotes(std::string_view text) {
  std::string made = "'";
  for (const auto each : troupe::one_line(text, 500))
    made += each == '\'' ? "''" : std::string(1, each);
  return made + '\'';
}

/// Splits a text at spaces, so that it fits into the picture.
std::vector<std::string> lines_of(std::string_view text) {
  constexpr std::size_t length_max = 125;
  std::vector<std::string> made;
  while (text.size() > length_max) {
    const auto space = text.rfind(' ', length_max);
    const auto end = space == 0 || space == std::string_view::npos ? length_max : space;
    made.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + (end == space ? 1 : 0), text.size()));
  }
  made.emplace_back(text);
  return made;
}

/// Commands for gnuplot. All data stand before the first plot: gnuplot reads them before it writes anything.
class script {
public:
  void add(const line_chart& chart) {
    begin(chart.title, lines_height, side + 70, side + 12);
    set_axis('x', chart.x);
    set_axis('y', chart.y);
    commands_ += "set offsets graph 0.02, graph 0.02, 0, 0\n";
    std::size_t left_out = 0;
    std::vector<std::string> names;
    std::string plot;
    for (std::size_t i = 0; i < chart.series.size(); ++i) {
      std::string data;
      auto shown = false;
      for (const auto& [x, y, seen] : chart.series[i].points) {
        const auto has_place = can_show(x) && can_show(y);
        const auto bar = seen && can_show(seen->min) && can_show(seen->max) ? *seen : spread{y, y};
        data += has_place ? fmt::format("{} {} {} {}\n", x, y, bar.min, bar.max) : "\n"; // An empty line: a gap.
        left_out += has_place ? 0 : 1;
        shown = shown || has_place;
      }
      if (!shown)
        continue;
      names.push_back(chart.series[i].name);
      const auto& look = styles[i % styles.size()];
      // The ninth series has the first one's color and stroke, but another marker.
      const auto marker = styles[(i + i / styles.size()) % styles.size()].marker;
      plot += fmt::format("{} with yerrorlines lc rgb '{}' dt {} lw 1.7 pt {} ps 0.9 title {},", block(data),
                          look.colour, look.dashes, marker, in_quotes(chart.series[i].name));
    }
    end(std::move(plot), lines_height, names, chart.notes, left_out);
  }

  void add(const bar_chart& chart) {
    std::vector<std::string> names;
    std::size_t longest = 0;
    double least = INFINITY;
    for (const auto& bar : chart.bars) {
      if (std::ranges::find(names, bar.series) == names.end())
        names.push_back(bar.series);
      longest = std::max(longest, bar.label.size());
      if (can_show(bar.value))
        least = std::min(least, bar.value);
    }
    const auto zero = std::pow(10, std::floor(std::log10(std::isfinite(least) ? least / 2 : 1)));
    std::vector<std::string> data(names.size());
    std::string labels;
    double at = 0.3;
    std::size_t left_out = 0;
    for (std::size_t i = 0; i < chart.bars.size();) {
      const auto& label = chart.bars[i].label;
      const auto first = at;
      for (; i < chart.bars.size() && chart.bars[i].label == label; ++i, ++at) {
        const auto& bar = chart.bars[i];
        const auto has_place = can_show(bar.value);
        const auto end = has_place ? bar.value : zero;
        const auto seen = has_place && bar.seen && can_show(bar.seen->min) ? *bar.seen : spread{end, end};
        data[static_cast<std::size_t>(std::ranges::find(names, bar.series) - names.begin())] +=
            fmt::format("{} {} {} {} \"{}\"\n", end, at + 0.5, seen.min, std::max(end, seen.max),
                        std::isfinite(bar.value) ? number_text(bar.value, chart.values.numbers) : "no number");
        left_out += has_place ? 0 : 1;
      }
      labels += fmt::format("{}{} {}", labels.empty() ? "" : ",", in_quotes(label), (first + at) / 2);
      at += 0.4;
    }
    const auto height = std::ceil(std::max(3.0, at) * bar_height);
    begin(chart.title, height, side + std::min(7.0 * static_cast<double>(longest), 300.0), 90);
    set_axis('x', chart.values);
    commands_ +=
        fmt::format("set xrange [{}:*]\nset yrange [{}:0]\nunset grid\nset grid xtics\nset ytics ({}) scale 0\n", zero,
                    height / bar_height, labels);
    std::string plot, above;
    for (std::size_t i = 0; i < data.size(); ++i) {
      const auto name = block(data[i]);
      plot += fmt::format("{} using 1:2:({}):1:($2-.42):($2+.42) with boxxyerror lc rgb '{}' fs solid {} noborder {},",
                          name, zero, styles[i % styles.size()].colour, i % 2 == 0 ? 1 : 0.6,
                          names.size() > 1 ? "title " + in_quotes(names[i]) : "notitle");
      above += fmt::format("{0} using 1:2:3:4 with xerrorbars pt -1 lc rgb '#000000' notitle,"
                           "{0} using 4:2:5 with labels left offset 1,0 font ',11' notitle,",
                           name);
    }
    end(plot + above, height, names.size() > 1 ? names : std::vector<std::string>{}, chart.notes, left_out);
  }

  [[nodiscard]] std::string text() const {
    return fmt::format(
        "H = {:.0f}.\nset encoding utf8\nset terminal svg size {},{:.0f} background '#ffffff' noenhanced font "
        "'Helvetica,Arial,sans-serif,12'\n{}set multiplot\n{}unset multiplot\n",
        height_, width, height_, data_, commands_);
  }

private:
  static std::string at(double x, double y) { return fmt::format("screen {}/{}.,1-{}/H", x, width, y); }

  std::string block(const std::string& data) {
    auto name = fmt::format("$b{}", blocks_++);
    data_ += fmt::format("{} << EOD\n{}EOD\n", name, data);
    return name;
  }

  void add_text(double y, const std::string& what, std::string_view look) {
    commands_ += fmt::format("set label {} at {} {}\n", in_quotes(what), at(side, height_ + y), look);
  }

  void begin(const std::string& title, double height, double left, double right) {
    commands_ += fmt::format(
        "reset\nset border 3 lc rgb '#333333'\nset tics nomirror textcolor rgb '#333333' font ',11'\nunset mxtics\n"
        "set grid lt 1 lc rgb '#dddddd' lw 0.7\nset lmargin at screen {}\nset rmargin at screen {}\n"
        "set tmargin at screen 1-{}/H\nset bmargin at screen 1-{}/H\n",
        left / width, 1 - right / width, height_ + title_height, height_ + title_height + height);
    add_text(26, title, "font ',16'");
  }

  void set_axis(char which, const axis& what) {
    const auto is_binary = what.numbers == axis_numbers::bytes && which == 'x';
    const auto is_percentile = what.numbers == axis_numbers::percentiles;
    commands_ +=
        fmt::format("set {0}label {1}\nset logscale {0} {2}\n", which, in_quotes(what.label), is_binary ? 2 : 10);
    if (!is_binary && !is_percentile) {
      commands_ += fmt::format("set format {} '%.0s %c{}'\n", which,
                               what.numbers == axis_numbers::seconds ? "s"
                               : what.numbers == axis_numbers::bytes ? "B"
                                                                     : "");
      return;
    }
    std::string ticks;
    const auto add_tick = [&](double at) {
      const auto* const sign = is_percentile ? "%" : ""; // gnuplot takes the text for a format.
      ticks += fmt::format("{}'{}{}' {}", ticks.empty() ? "" : ",", number_text(at, what.numbers), sign, at);
    };
    constexpr int percentiles_most = 9; // Powers of ten.
    for (int power = 0; power <= (is_percentile ? percentiles_most : 60); power += is_percentile ? 1 : 2)
      add_tick(is_percentile ? std::pow(10, power) : std::ldexp(1, power));
    commands_ += fmt::format("set {}tics ({})\n", which, ticks);
  }

  /// The legend, the notes and the plot itself.
  void end(std::string plot, double height, const std::vector<std::string>& names, std::vector<std::string> notes,
           std::size_t left_out) {
    std::size_t longest = 0;
    for (const auto& name : names)
      longest = std::max(longest, name.size());
    const auto columns = std::clamp((width - side) / (45 + 9 * static_cast<double>(longest)), 1.0, 5.0);
    const auto rows = std::ceil(static_cast<double>(names.size()) / std::floor(columns));
    auto y = title_height + height + axis_height;
    commands_ += fmt::format("set key at {} left top horizontal Left reverse maxcols {:.0f} maxrows {} samplen 3\n",
                             at(side, height_ + y), std::floor(columns), rows);
    y += text_height * (rows + 1);
    if (left_out > 0)
      notes.push_back(fmt::format("{} left out: not a number that this axis can show.",
                                  left_out == 1 ? "1 value is" : fmt::format("{} values are", left_out)));
    for (const auto& note : notes)
      for (const auto& each : lines_of(note)) {
        add_text(y, each, "font ',11' tc rgb '#555555'");
        y += text_height;
      }
    if (plot.empty()) {
      commands_ += "set label 'no values' at graph 0.5,0.5 center\nset xrange [1:10]\nset yrange [1:10]\n";
      plot = "NaN notitle,";
    }
    plot.pop_back();
    commands_ += "plot " + plot + '\n';
    height_ += y;
  }

  std::string data_;
  std::string commands_;
  double height_ = 0;
  int blocks_ = 0;
};

} // namespace

std::string number_text(double value, axis_numbers numbers) {
  static constexpr std::array<std::string_view, 6> decimal{"", " k", " M", " G", " T", " P"};
  static constexpr std::array<std::string_view, 6> binary{" B", " KiB", " MiB", " GiB", " TiB", " PiB"};
  static constexpr std::array<std::string_view, 4> seconds{" ns", " us", " ms", " s"};
  switch (numbers) {
  case axis_numbers::bytes:
    return with_prefix(value, 1024, binary);
  case axis_numbers::seconds:
    return value == 0 ? "0 s" : with_prefix(value * 1e9, 1000, seconds);
  case axis_numbers::percentiles:
    return fmt::format("{:.10g} %", 100 - 100 / value);
  case axis_numbers::plain:
    break;
  }
  return with_prefix(value, 1000, decimal);
}

std::string script_of(const std::vector<line_chart>& charts) {
  script made;
  for (const auto& each : charts)
    made.add(each);
  return made.text();
}

std::string script_of(const bar_chart& chart) {
  return script_of(chart, {});
}

std::string script_of(const bar_chart& first, const std::vector<line_chart>& others) {
  script made;
  made.add(first);
  for (const auto& each : others)
    made.add(each);
  return made.text();
}

std::expected<std::string, std::string> drawn(const std::string& script) {
  using namespace troupe::processes;
  auto gnuplot = process::start({.program = "gnuplot",
                                 .words = {"gnuplot", "--default-settings"},
                                 .input = lines{},
                                 .output = lines{},
                                 .errors = nothing{},
                                 .environment = {}});
  if (!gnuplot)
    return std::unexpected{"plots are drawn by gnuplot, Debian's package gnuplot-nox: " + gnuplot.error()};
  gnuplot->channel().write_line(script);
  gnuplot->channel().end_writing();
  auto svg = gnuplot->channel().read_all();
  if (gnuplot->wait() != exited_with(0))
    return std::unexpected{std::string{"gnuplot cannot draw the plot"}};
  return svg;
}

std::expected<void, std::string> can_draw() {
  if (auto tried = drawn(""); !tried)
    return std::unexpected{std::move(tried).error()};
  return {};
}

} // namespace bench
