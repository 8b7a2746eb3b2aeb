#include "compare/writing.hpp"

#include "harness/plot.hpp"
#include "harness/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include <nlohmann/json.hpp>

namespace bench {

namespace {

/// "13.3 x faster", "**2 x slower**", "even". For processor time "13.3 x less", "**2 x more**".
std::string standing(const quantity& what, double advantage) {
  if (advantage <= 0)
    return "";
  if (advantage < even_max && 1 / advantage < even_max)
    return "even";
  const auto is_cost = what.name.starts_with("processor time");
  return advantage > 1 ? short_number(advantage) + (is_cost ? " x less" : " x faster")
                       : "**" + short_number(1 / advantage) + (is_cost ? " x more**" : " x slower**");
}

std::string marked(const std::string& subject) {
  return is_ours(subject) ? "**" + subject + "**" : is_limit(subject) ? '_' + subject + "_ (limit)" : subject;
}

/// Troupe's rows with which peers are compared. Excludes Troupe over TCP, because most peers use unix sockets.
std::vector<row> references(const std::vector<row>& rows) {
  std::vector<row> found;
  std::ranges::copy_if(rows, std::back_inserter(found),
                       [](const row& one) { return is_ours(one.subject) && one.subject != "troupe-tcp"; });
  return found;
}

std::string table_of(const std::vector<row>& rows) {
  const auto ours = references(rows);
  std::string text = fmt::format("| {} | {} | least | greatest |", rows.front().what.name, rows.front().what.unit);
  std::string line = "| --- | ---: | ---: | ---: |";
  for (const auto& one : ours) {
    text += " `" + one.subject + "` is |";
    line += " --- |";
  }
  text += '\n' + line + '\n';
  for (const auto& one : ranked(rows)) {
    text += fmt::format("| {} | {} | {} | {} |", marked(one.subject), short_number(one.median), short_number(one.min),
                        short_number(one.max));
    for (const auto& reference : ours)
      text += ' ' + (is_ours(one.subject) ? "" : standing(one.what, advantage(reference, one.subject))) + " |";
    text += '\n';
  }
  return text;
}

/// Whether `one` is ahead of all of `ours`. False if there are none.
bool leads(const row& one, const std::vector<row>& ours) {
  return !ours.empty() && std::ranges::all_of(ours, [&](const row& reference) {
    const auto by = advantage(reference, one.subject);
    return by > 0 && 1 / by >= even_max;
  });
}

/// One row for each subject, Troupe first and limits last. One column for each quantity except p99.
std::string summary_of(const comparison& made) {
  std::vector<row> all;
  for (const auto& benchmark : made.benchmarks)
    std::ranges::copy_if(benchmark.rows, std::back_inserter(all),
                         [](const row& one) { return !one.what.name.ends_with("p99"); });
  std::vector<std::string> subjects;
  for (const auto& one : all)
    if (std::ranges::find(subjects, one.subject) == subjects.end())
      subjects.push_back(one.subject);
  std::ranges::stable_sort(subjects, {}, [](const std::string& subject) {
    return is_ours(subject) ? 0 : is_limit(subject) ? 2 : 1;
  });

  const auto quantities = quantities_of(all);
  std::string text = "| |";
  std::string line = "| --- |";
  for (const auto& what : quantities) {
    text += fmt::format(" {}, {} |", what.name, what.unit);
    line += " ---: |";
  }
  text += '\n' + line + '\n';
  for (const auto& subject : subjects) {
    text += "| " + marked(subject) + " |";
    for (const auto& what : quantities) {
      const auto rows = rows_of(all, what);
      const auto one = std::ranges::find(rows, subject, &row::subject);
      const auto value = one == rows.end() ? "" : short_number(one->median);
      const auto is_rival = !is_ours(subject) && !is_limit(subject);
      const auto is_ahead = one != rows.end() && is_rival && leads(*one, references(rows));
      text += is_ahead ? " **" + value + "** |" : ' ' + value + " |";
    }
    text += '\n';
  }
  return text;
}

/// One line for each quantity in which a peer is ahead of all of Troupe's rows, with the peers that are.
std::string losses_of(const comparison& made) {
  std::string text;
  for (const auto& benchmark : made.benchmarks)
    for (const auto& what : quantities_of(benchmark.rows)) {
      const auto rows = ranked(rows_of(benchmark.rows, what));
      const auto ours = references(rows); // The best one first.
      std::string ahead;
      for (const auto& one : rows)
        if (!is_ours(one.subject) && !is_limit(one.subject) && leads(one, ours))
          ahead += fmt::format("{}{} ({} x)", ahead.empty() ? "" : ", ", one.subject,
                               short_number(1 / advantage(ours.front(), one.subject)));
      if (!ahead.empty())
        text += fmt::format("- {}: `{}` is behind {}\n", what.name, ours.front().subject, ahead);
    }
  return text.empty() ? "In this run no peer is ahead of Troupe by more than 5 %. Limits are not peers.\n"
                      : "In this run these peers are ahead of Troupe by more than 5 %:\n\n" + text;
}

std::string percent(double share) {
  return fmt::format("{:.0f} %", share * 100);
}

/// A sentence on the load by other programs, which makes results less reliable.
std::string disturbance(const shares& taken) {
  constexpr double quiet_max = 0.03;
  auto text = fmt::format("During the run, other programs took {} of the processor time", percent(taken.others));
  if (taken.host > 0)
    text += fmt::format(", and the host of the virtual machine took {}", percent(taken.host));
  return text
         + (taken.others + taken.host > quiet_max
                ? ". **The machine was not quiet**: compare the least and the greatest values.\n"
                : ".\n");
}

std::string missing_in(const comparison& made) {
  std::string text;
  bool is_any_absent = false;
  for (const auto& benchmark : made.benchmarks)
    for (const auto& [subject, why] : benchmark.missing) {
      text += fmt::format("- {}, {}: {}\n", subject, benchmark.benchmark, why.reason);
      is_any_absent = is_any_absent || why.is_absent;
    }
  if (text.empty())
    return "";
  return "\n## Missing\n\n" + text
         + (is_any_absent ? "\n`cmake/install-dependencies peers` installs the packages of all peers.\n" : "");
}

std::vector<std::string> notes_of(const comparison& made) {
  std::string machine;
  for (const auto& [name, value] : made.machine)
    machine += (machine.empty() ? "" : "; ") + value;
  return {fmt::format("{}, {}. Other programs took {} of the processors meanwhile.", made.date, made.extent,
                      percent(made.taken.others)),
          machine};
}

double bytes_of(const std::string& size) {
  const auto number = std::stod(size);
  return number
         * (size.find("GiB") != std::string::npos   ? 1 << 30
            : size.find("MiB") != std::string::npos ? 1 << 20
            : size.find("KiB") != std::string::npos ? 1 << 10
                                                    : 1);
}

const benchmark_results* find(const comparison& made, std::string_view name) {
  const auto found = std::ranges::find(made.benchmarks, name, &benchmark_results::benchmark);
  return found == made.benchmarks.end() ? nullptr : &*found;
}

std::string part_of(const std::string& subject) {
  return is_ours(subject) ? "Troupe" : is_limit(subject) ? "a limit" : "what users would pick instead";
}

/// One bar for each subject, best first.
std::string bars_of(const std::string& title, const std::string& label, const std::vector<row>& rows,
                    const comparison& made) {
  bar_chart chart;
  chart.title = title;
  chart.values = axis{.label = label};
  chart.notes = notes_of(made);
  for (const auto& one : ranked(rows))
    chart.bars.push_back(
        {.label = one.subject, .series = part_of(one.subject), .value = one.median, .seen = spread{one.min, one.max}});
  return script_of(chart);
}

/// One group for each subject, in the order of the first quantity. A group has one bar for each quantity; their names
/// differ after the comma.
std::string round_trips_of(const std::vector<row>& rows, const comparison& made) {
  bar_chart chart;
  chart.title = "One request, there and back, nothing else under way (p50; shorter is better)";
  chart.values = axis{.label = "time (logarithmic)", .numbers = axis_numbers::seconds};
  chart.notes = notes_of(made);
  constexpr double microsecond = 1e-6;
  constexpr const char* each = "idle round trip, a core each p50";
  for (const auto& one : ranked(rows_of(rows, {each, "us"})))
    for (const auto& [name, series] :
         {std::pair{each, "a core each"}, std::pair{"idle round trip, one core p50", "both on one core"}})
      if (const auto* found = find_row(rows, name, one.subject))
        chart.bars.push_back({.label = one.subject,
                              .series = series,
                              .value = found->median * microsecond,
                              .seen = spread{found->min * microsecond, found->max * microsecond}});
  return chart.bars.empty() ? "" : script_of(chart);
}

std::string large_values_of(const std::vector<row>& rows, const comparison& made) {
  line_chart chart;
  chart.title = "A large value to another process, until its answer is here (higher is better)";
  chart.x = axis{.label = "size", .numbers = axis_numbers::bytes};
  chart.y = axis{.label = "bytes a second (logarithmic)", .numbers = axis_numbers::bytes};
  chart.notes = notes_of(made);
  constexpr double millisecond = 1e-3;
  for (const auto& one : rows) {
    if (one.subject == "troupe-tcp" || one.median <= 0 || one.min <= 0)
      continue;
    auto series = std::ranges::find(chart.series, one.subject, &plot_series::name);
    if (series == chart.series.end())
      series = chart.series.insert(series, plot_series{one.subject, {}});
    const auto bytes = bytes_of(one.what.name);
    const auto rate = [bytes](double milliseconds) { return bytes / (milliseconds * millisecond); };
    series->points.push_back({bytes, rate(one.median), spread{rate(one.max), rate(one.min)}});
  }
  return chart.series.empty() ? "" : script_of({chart});
}

} // namespace

std::string markdown_of(const comparison& made) {
  std::string text = "# Troupe beside the alternatives\n\n";
  text += fmt::format("{}, {}, by `bench/run`. {}\n| | |\n| --- | --- |\n", made.date, made.extent,
                      disturbance(made.taken));
  for (const auto& [name, value] : made.machine)
    text += fmt::format("| {} | {} |\n", name, value);
  text +=
      "\nThe tables show the median, the least and the greatest of the rounds, the best subject first. A ratio is the "
      "median of the\nratios of each round. \"2 x faster\" means twice as many messages in the same time, or half the "
      "time. bench/README.md says what\nis measured, and how.\n\n";
  text += "## In short\n\nA peer's figure is **bold** if the peer is ahead of all of Troupe's subjects except "
          "`troupe-tcp`.\n\n"
          + summary_of(made) + '\n';
  text += losses_of(made);
  for (const auto& [name, script] : plots_of(made))
    text += fmt::format("\n![{0}]({0}.svg)\n", name);
  for (const auto& benchmark : made.benchmarks) {
    text += fmt::format("\n## {}\n", benchmark.benchmark);
    for (const auto& what : quantities_of(benchmark.rows))
      text += '\n' + table_of(rows_of(benchmark.rows, what));
  }
  return text + missing_in(made);
}

std::string json_of(const comparison& made) {
  nlohmann::ordered_json json;
  json["date"] = made.date;
  for (const auto& [name, value] : made.machine)
    json["machine"][name] = value;
  json["extent"] = made.extent;
  json["processors"] = {{"ours", made.taken.ours}, {"others", made.taken.others}, {"host", made.taken.host}};
  json["rows"] = nlohmann::ordered_json::array();
  json["missing"] = nlohmann::ordered_json::array();
  for (const auto& benchmark : made.benchmarks) {
    for (const auto& one : benchmark.rows)
      json["rows"].push_back(nlohmann::ordered_json::parse(json_line(benchmark.benchmark, one)));
    for (const auto& [subject, why] : benchmark.missing)
      json["missing"].push_back(nlohmann::ordered_json::parse(json_line(benchmark.benchmark, subject, why)));
  }
  return json.dump(1) + '\n';
}

std::vector<std::pair<std::string, std::string>> plots_of(const comparison& made) {
  std::vector<std::pair<std::string, std::string>> plots;
  const auto add = [&plots](const char* name, std::string script) {
    if (!script.empty())
      plots.emplace_back(name, std::move(script));
  };
  if (const auto* throughput = find(made, "throughput")) {
    const auto bars = [&](const quantity& what, const std::string& title, const char* label) {
      const auto rows = rows_of(throughput->rows, what);
      return rows.empty() ? "" : bars_of(title, label, rows, made);
    };
    add("one-way", bars({"one-way small struct", "msg/s"}, "Small messages one way, between two processes",
                        "messages a second (logarithmic)"));
    add("echo", bars({"pipelined echo", "requests/s"}, "Small messages there and back, 100 under way",
                     "answers a second (logarithmic)"));
    add("round-trip", round_trips_of(throughput->rows, made));
  }
  if (const auto* payloads = find(made, "payloads"))
    add("large-values", large_values_of(payloads->rows, made));
  return plots;
}

std::expected<void, std::string> write_files(const comparison& made, const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return std::unexpected{"cannot make " + folder.string() + ": " + error.message()};
  std::vector<std::pair<std::string, std::string>> files{{"results.md", markdown_of(made)},
                                                         {"results.json", json_of(made)}};
  for (const auto& [name, script] : plots_of(made)) {
    auto svg = drawn(script);
    if (!svg)
      return std::unexpected{std::move(svg).error()};
    files.emplace_back(name + ".svg", *std::move(svg));
  }
  for (const auto& [name, text] : files) {
    std::ofstream file{folder / name, std::ios::binary};
    if (!(file << text << std::flush))
      return std::unexpected{"cannot write " + (folder / name).string()};
  }
  return {};
}

} // namespace bench
