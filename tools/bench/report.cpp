#include "bench/report.hpp"

#include "bench/machine_document.hpp"

#include "text.hpp"

#include "harness/plot.hpp"
#include "harness/report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace troupe::tools {

namespace {

using json = nlohmann::ordered_json;

[[nodiscard]] std::string in_microseconds(double seconds) {
  return bench::short_number(seconds * 1e6);
}

[[nodiscard]] std::string a_second(double bytes) {
  return bench::number_text(bytes, bench::axis_numbers::bytes) + "/s";
}

/// The first cells of a line, common to both tables.
[[nodiscard]] std::vector<std::string> what_cells(const measured& one) {
  return {std::string{name_of(one.what.how)}, one.what.transport, one.what.family, one.what.compression,
          text_of_size(one.what.size_bytes)};
}

[[nodiscard]] std::string table_of(const run_results& results, bool of_latency) {
  std::vector<std::vector<std::string>> lines;
  lines.push_back({"pattern", "transport", "family", "compression", "size"});
  if (of_latency)
    lines.front().insert(lines.front().end(), {"p50 us", "p90 us", "p99 us", "p99.9 us", "max us", "trips/s", "by"});
  else
    lines.front().insert(lines.front().end(), {"messages/s", "least", "most", "bytes/s", "by"});
  const auto sides = "<<<<>" + std::string(lines.front().size() - 6, '>') + '<';
  for (const auto& one : results.all) {
    if (!one.failure.empty() || has_latency(one.what.how) != of_latency)
      continue;
    auto cells = what_cells(one);
    const auto& rate = one.messages_a_second;
    if (of_latency)
      cells.insert(cells.end(), {in_microseconds(one.trips->p50.median), in_microseconds(one.trips->p90.median),
                                 in_microseconds(one.trips->p99.median), in_microseconds(one.trips->p999.median),
                                 in_microseconds(one.trips->max.max), bench::short_number(rate.median), one.path});
    else
      cells.insert(cells.end(), {bench::short_number(rate.median), bench::short_number(rate.min),
                                 bench::short_number(rate.max), a_second(one.bytes_a_second.median), one.path});
    lines.push_back(std::move(cells));
  }
  return lines.size() > 1 ? '\n' + table(std::move(lines), sides) : "";
}

/// "medians of 5 rounds of 0.4 s", or "of 2 to 3 rounds" if the run was stopped.
[[nodiscard]] std::string how_measured(const run_results& results) {
  std::size_t least = SIZE_MAX;
  std::size_t most = 0;
  for (const auto& one : results.all)
    if (one.failure.empty()) {
      least = std::min(least, one.rounds);
      most = std::max(most, one.rounds);
    }
  if (most == 0)
    return "nothing was measured";
  return fmt::format("medians of {}{} round{} of {:.3g} s", least == most ? "" : fmt::format("{} to ", least), most,
                     most == 1 ? "" : "s", results.asked.seconds);
}

[[nodiscard]] json document_of(const range& values) {
  return {{"median", values.median}, {"min", values.min}, {"max", values.max}, {"values", values.values}};
}

[[nodiscard]] range in_microseconds(const range& seconds) {
  range made{seconds.median * 1e6, seconds.min * 1e6, seconds.max * 1e6};
  for (const auto each : seconds.values)
    made.values.push_back(each * 1e6);
  return made;
}

/// The percentiles by their names in JSON documents.
[[nodiscard]] std::vector<std::pair<std::string, range>> named(const trip_times& trips) {
  return {{"p50", in_microseconds(trips.p50)},
          {"p90", in_microseconds(trips.p90)},
          {"p99", in_microseconds(trips.p99)},
          {"p99.9", in_microseconds(trips.p999)},
          {"max", in_microseconds(trips.max)}};
}

[[nodiscard]] json document_of(const measured& one) {
  const auto& what = one.what;
  json made{{"pattern", name_of(what.how)},
            {"transport", what.transport},
            {"family", what.family},
            {"compression", what.compression},
            {"size_bytes", what.size_bytes},
            {"processes", what.transport == "inproc" ? 1 : what.far_ends() + what.near_ends()}};
  if (!one.failure.empty()) {
    made["failure"] = one.failure;
    return made;
  }
  made["rounds"] = one.rounds;
  made["path"] = one.path;
  made["messages_per_second"] = document_of(one.messages_a_second);
  made["bytes_per_second"] = document_of(one.bytes_a_second);
  if (one.trips)
    for (const auto& [name, values] : named(*one.trips))
      made["round_trip_us"][name] = document_of(values);
  return made;
}

/// One line of CSV, quoted according to RFC 4180.
[[nodiscard]] std::string csv_line(const std::vector<std::string>& cells) {
  std::string made;
  for (const auto& each : cells) {
    if (!made.empty())
      made += ',';
    if (each.find_first_of(",\"\n\r") == std::string::npos) {
      made += each;
      continue;
    }
    made += '"';
    for (const auto letter : each)
      made += letter == '"' ? "\"\"" : std::string{letter};
    made += '"';
  }
  return made + "\r\n";
}

void add_range(std::vector<std::string>& to, const range& values) {
  for (const auto value : {values.median, values.min, values.max})
    to.push_back(fmt::format("{:.6g}", value));
}

[[nodiscard]] std::string series_name(const measurement& what) {
  auto name = what.transport;
  if (what.family != "-")
    name += ' ' + what.family;
  return what.compression == "none" ? name : name + ' ' + what.compression;
}

/// Adds the point to the line of its family, transport and compression.
void add_point(bench::line_chart& to, const measurement& what, const bench::plot_point& point) {
  const auto name = series_name(what);
  auto found = std::ranges::find(to.series, name, &bench::plot_series::name);
  if (found == to.series.end())
    found = to.series.insert(found, {name, {}});
  found->points.push_back(point);
}

[[nodiscard]] bench::line_chart chart_over_size(std::string title, std::string values, bench::axis_numbers numbers) {
  bench::line_chart made;
  made.title = std::move(title);
  made.x = {"payload", bench::axis_numbers::bytes};
  made.y = {std::move(values), numbers};
  return made;
}

[[nodiscard]] std::vector<bench::line_chart> charts_of(const run_results& results, pattern how) {
  const auto where = text_of(results.where);
  const auto pace = how_measured(results);
  auto rates = chart_over_size(fmt::format("{}: throughput", name_of(how)), "payload bytes a second",
                               bench::axis_numbers::bytes);
  rates.notes = {pace + "; thin bars from the least to the greatest", where};
  auto times = chart_over_size(fmt::format("{}: time there and back", name_of(how)), "time there and back, p50",
                               bench::axis_numbers::seconds);
  times.notes = {pace + "; thin bars from p50 to p99", where};
  for (const auto& one : results.all) {
    if (one.what.how != how || !one.failure.empty())
      continue;
    const auto size = static_cast<double>(one.what.size_bytes);
    const auto& bytes = one.bytes_a_second;
    add_point(rates, one.what, {size, bytes.median, bench::spread{bytes.min, bytes.max}});
    if (one.trips)
      add_point(times, one.what,
                {size, one.trips->p50.median, bench::spread{one.trips->p50.median, one.trips->p99.median}});
  }
  std::vector<bench::line_chart> made;
  if (!rates.series.empty())
    made.push_back(std::move(rates));
  if (!times.series.empty())
    made.push_back(std::move(times));
  return made;
}

} // namespace

std::string text_of(const run_results& results) {
  const auto tables = table_of(results, false) + table_of(results, true);
  return text_of(results.where) + '\n' + how_measured(results) + '\n' + tables;
}

std::string json_of(const run_results& results) {
  json made{
      {"machine", document_of(results.where)}, {"rounds", results.rounds},     {"rounds_asked", results.asked.rounds},
      {"seconds", results.asked.seconds},      {"peers", results.asked.peers}, {"in_flight", results.asked.in_flight},
      {"spill", results.asked.spill},          {"data", results.asked.data},   {"results", json::array()}};
  for (const auto& one : results.all)
    made["results"].push_back(document_of(one));
  return made.dump(2, ' ', false, json::error_handler_t::replace) + '\n';
}

std::string csv_of(const run_results& results) {
  std::vector<std::string> headings{"pattern", "transport", "family", "compression", "size_bytes", "path", "failure"};
  for (const auto* name :
       {"messages_per_second", "bytes_per_second", "p50_us", "p90_us", "p99_us", "p99.9_us", "max_us"})
    for (const auto* part : {"", "_min", "_max"})
      headings.push_back(std::string{name} + part);
  headings.insert(headings.end(),
                  {"rounds", "seconds", "cpu", "cores", "kernel", "compiler", "build", "troupe", "date"});
  auto made = csv_line(headings);
  const auto& where = results.where;
  for (const auto& one : results.all) {
    std::vector<std::string> cells{
        std::string{name_of(one.what.how)},  one.what.transport, one.what.family, one.what.compression,
        std::to_string(one.what.size_bytes), one.path,           one.failure};
    const auto rates_end = cells.size() + 6;
    const auto trips_end = rates_end + 15;
    if (one.failure.empty()) {
      add_range(cells, one.messages_a_second);
      add_range(cells, one.bytes_a_second);
    }
    cells.resize(rates_end);
    if (one.trips)
      for (const auto& [name, values] : named(*one.trips))
        add_range(cells, values);
    cells.resize(trips_end);
    cells.insert(cells.end(),
                 {std::to_string(one.rounds), fmt::format("{:g}", results.asked.seconds), where.cpu,
                  std::to_string(where.cores), where.kernel, where.compiler, where.build, where.version, where.date});
    made += csv_line(cells);
  }
  return made;
}

std::expected<std::string, std::string> svg_of(const run_results& results) {
  std::vector<bench::line_chart> all;
  for (const auto* name : pattern_names)
    for (auto& chart : charts_of(results, pattern_of(name)))
      all.push_back(std::move(chart));
  return bench::drawn(bench::script_of(all));
}

} // namespace troupe::tools
