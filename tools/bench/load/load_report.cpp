#include "bench/load/load_report.hpp"

#include "text.hpp"

#include "harness/plot.hpp"
#include "harness/report.hpp"

#include <troupe/base/sizes.hpp>

#include <fmt/format.h>

#include <cmath>

namespace troupe::tools {

namespace {

[[nodiscard]] std::string microseconds_text(std::uint64_t nanoseconds) {
  return bench::short_number(static_cast<double>(nanoseconds) / 1e3);
}

[[nodiscard]] std::vector<std::string> cells_of(const std::string& name, const load_round& round) {
  std::vector<std::string> cells{name, bench::short_number(round.offered_per_second),
                                 bench::short_number(round.sent_per_second),
                                 bench::short_number(round.achieved_per_second)};
  for (const auto& [unused, percent] : load_percentiles)
    cells.push_back(round.latency.count() == 0 ? "-" : microseconds_text(round.latency.percentile(percent)));
  cells.push_back(microseconds_text(round.lateness.percentile(99)));
  cells.push_back(grouped(round.failed()));
  return cells;
}

[[nodiscard]] std::vector<std::string> load_headings(const char* first) {
  std::vector<std::string> cells{first, "offered/s", "sent/s", "achieved/s"};
  for (const auto& [name, unused] : load_percentiles)
    cells.push_back(std::string{name} + " us");
  cells.emplace_back("late p99 us");
  cells.emplace_back("failed");
  return cells;
}

[[nodiscard]] std::string failures_text(const load_round& all) {
  std::string text;
  for (const auto& [why, some] : all.failures)
    text += fmt::format("{}: {}, intended {:.3g} to {:.3g} s after the begin of the measured time\n", why,
                        several(some.count, "request"), some.first_seconds, some.last_seconds);
  if (!text.empty())
    text = "\nfailed (the percentiles are those of the answered requests):\n" + text;
  if (all.held > 0)
    text += fmt::format("\n{} waited because {} were outstanding, which is the bound (--outstanding)\n",
                        several(all.held, "request"), grouped(all.outstanding_most));
  return text;
}

[[nodiscard]] std::string rounds_text(const load_document& document) {
  std::vector<std::vector<std::string>> lines{load_headings("round")};
  for (std::size_t i = 0; i < document.rounds.size(); ++i)
    lines.push_back(cells_of(std::to_string(i + 1), document.rounds[i]));
  const auto all = together(document.rounds);
  if (document.rounds.size() > 1)
    lines.push_back(cells_of("all", all));
  const auto sides = '<' + std::string(lines.front().size() - 1, '>');
  return '\n' + table(std::move(lines), sides) + failures_text(all);
}

[[nodiscard]] std::string knee_text(const found_knee& knee) {
  std::vector<std::vector<std::string>> lines{load_headings("rate")};
  lines.front().emplace_back("sustained");
  for (const auto& each : knee.tried) {
    lines.push_back(cells_of(bench::short_number(each.rate), each.figures));
    lines.back().push_back(each.is_sustained ? "yes" : "no: " + each.why_not);
  }
  const auto sides = '<' + std::string(lines.front().size() - 2, '>') + '<';
  const auto rate = [](std::optional<double> one) {
    return one ? bench::short_number(*one) + "/s" : std::string{"none"};
  };
  return '\n' + table(std::move(lines), sides)
         + fmt::format("\nknee: {} is sustained (at least 99 % achieved, p99 below {:g} ms), {} is not\n",
                       rate(knee.last_good), knee.limit_ms, rate(knee.first_bad));
}

/// Points of the distribution over 1/(1 - p): ten for each power of ten, as far as there are values.
[[nodiscard]] bench::plot_series series_of(std::string name, const histogram& values) {
  bench::plot_series made{std::move(name), {}};
  constexpr double points_each = 10;
  for (int i = 0;; ++i) {
    const auto rarity = std::pow(10, i / points_each);
    if (rarity > static_cast<double>(values.count()))
      return made;
    made.points.push_back({rarity, static_cast<double>(values.percentile(100 - 100 / rarity)) / 1e9});
  }
}

} // namespace

std::string text_of(const load_document& document) {
  std::string text;
  for (const auto& each : document.machines)
    text += text_of(each) + '\n';
  const auto& what = document.what;
  std::string addresses;
  for (const auto& each : what.addresses)
    addresses += (addresses.empty() ? "" : ", ") + each;
  text += fmt::format("{}, to {}; {} of {:g} s after {:g} s of warm-up; seed {}\n", label_of(what), addresses,
                      document.knee ? several(document.knee->tried.size(), "rate")
                                    : several(document.rounds.size(), "round"),
                      what.seconds, what.warm_up_seconds, what.seed);
  text += what.pattern == "echo" ? "latency: from the intended start to the answer; late: the generator's own delay\n"
                                 : "achieved: taken by the sinks, by their clocks; late: the generator's own delay\n";
  return text + (document.knee ? knee_text(*document.knee) : rounds_text(document));
}

std::string hgrm_of(const load_document& document) {
  return together(document.rounds).latency.hgrm(1e6, " troupe bench: " + label_of(document.what) + ", milliseconds");
}

std::expected<std::string, std::string> svg_of(const load_document& document) {
  const auto all = together(document.rounds);
  bench::line_chart chart;
  chart.title = label_of(document.what);
  chart.x = {"percentile", bench::axis_numbers::percentiles};
  chart.y = {"time from the intended start", bench::axis_numbers::seconds};
  if (all.latency.count() > 0)
    chart.series.push_back(series_of("answered", all.latency));
  chart.series.push_back(series_of("sent: the generator's own delay", all.lateness));
  for (const auto& each : document.machines)
    chart.notes.push_back(text_of(each));
  return bench::drawn(bench::script_of(std::vector{chart}));
}

std::string line_of(const load_round& round) {
  auto text = fmt::format("{}/s offered, {}/s achieved", bench::short_number(round.offered_per_second),
                          bench::short_number(round.achieved_per_second));
  if (round.latency.count() > 0)
    text += fmt::format(", p99 {} ms", bench::short_number(static_cast<double>(round.latency.percentile(99)) / 1e6));
  return text;
}

} // namespace troupe::tools
