// A comparison as a plot.
#include <troupe/framework/bench/codec_rows.hpp>

#include "harness/plot.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace troupe::bench {

namespace {

constexpr double seconds_of_ns = 1e-9;

[[nodiscard]] ::bench::plot_bar bar_of(const std::string& label, const std::string& series, const figure& ns) {
  return {label, series, ns.median * seconds_of_ns, ::bench::spread{ns.min * seconds_of_ns, ns.max * seconds_of_ns}};
}

/// The bars of one quantity stand together, so that the families can be compared.
[[nodiscard]] ::bench::bar_chart times_of(const comparison& of) {
  ::bench::bar_chart made{
      .title = of.type + ": time of one message", .values = {"time", ::bench::axis_numbers::seconds}, .bars = {}};
  const auto codecs = detail::codec_rows(of);
  for (const auto& [name, member] :
       {std::pair{"encode", &comparison_row::encode_ns}, {"decode", &comparison_row::decode_ns}})
    for (const auto* row : codecs)
      made.bars.push_back(bar_of(name, detail::codec_text(row->family, row->compression), row->*member));
  std::vector<std::string> ways;
  for (const auto& row : of.rows)
    if (std::ranges::find(ways, row.over) == ways.end())
      ways.push_back(row.over);
  for (const auto& way : ways)
    for (const auto& [name, member] :
         {std::pair{"one way, ", &comparison_row::one_way_ns}, {"round trip, ", &comparison_row::round_trip_ns}})
      for (const auto& row : of.rows)
        if (row.over == way && row.is_measured())
          made.bars.push_back(bar_of(name + way,
                                     detail::codec_text(row.is_encoded() ? row.family : "not encoded", row.compression),
                                     row.*member));
  made.notes = {of.advice(), fmt::format("medians of {} rounds, thin bars from the least to the greatest", of.rounds)};
  return made;
}

[[nodiscard]] ::bench::line_chart times_over_speed(const comparison& of) {
  ::bench::line_chart made{.title = of.type + ": encoding, transmission and decoding, over the network's speed",
                           .x = {"bit/s", ::bench::axis_numbers::plain},
                           .y = {"time of one message (estimate)", ::bench::axis_numbers::seconds},
                           .series = {}};
  for (const auto* row : detail::codec_rows(of)) {
    ::bench::plot_series line{detail::codec_text(row->family, row->compression), {}};
    for (double speed = 1e6; speed <= 1e11; speed *= 10)
      for (const auto& estimate : of.at(speed))
        if (estimate.family == row->family && estimate.compression == row->compression)
          line.points.push_back({speed, estimate.total_ns() * seconds_of_ns});
    made.series.push_back(std::move(line));
  }
  return made;
}

} // namespace

std::expected<std::string, node_error> comparison::svg() const {
  auto drawn = ::bench::drawn(::bench::script_of(times_of(*this), {times_over_speed(*this)}));
  if (!drawn)
    return std::unexpected(node_error(node_errc::unsupported, std::move(drawn).error()));
  return *std::move(drawn);
}

} // namespace troupe::bench
