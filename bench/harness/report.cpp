#include "harness/report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ranges>

#include <fmt/format.h>
#include <troupe/base/sizes.hpp>

namespace bench {

namespace {

std::string in_json(std::string_view text) {
  std::string made = "\"";
  for (const auto character : text) {
    if (character == '"' || character == '\\')
      (made += '\\') += character;
    else if (static_cast<unsigned char>(character) < 0x20)
      made += fmt::format("\\u{:04x}", static_cast<unsigned>(character));
    else
      made += character;
  }
  return made + '"';
}

/// Values that are not finite become null, because JSON cannot represent them.
std::string number(double value) {
  return std::isfinite(value) ? fmt::format("{:.6g}", value) : "null";
}

using table_line = std::vector<std::string>;

table_line headings(const quantity& what, const std::vector<std::string>& peers) {
  table_line cells{what.name, what.unit, "min", "max"};
  for (const auto& peer : peers)
    cells.push_back("/ " + peer);
  return cells;
}

table_line cells_of(const row& one, const std::vector<std::string>& peers) {
  table_line cells{"  " + one.subject, short_number(one.median), short_number(one.min), short_number(one.max)};
  for (const auto& peer : peers)
    cells.push_back(one.ratio_to.contains(peer) ? short_number(one.ratio_to.at(peer)) : "");
  return cells;
}

} // namespace

std::string short_number(double value) {
  if (!std::isfinite(value))
    return "-";
  if (std::abs(value) >= 1000)
    return (value < 0 ? "-" : "") + troupe::grouped(static_cast<std::uint64_t>(std::llround(std::abs(value))));
  return fmt::format("{:.3g}", value);
}

std::string table(const std::vector<row>& rows, const std::vector<std::string>& peers) {
  std::vector<table_line> lines;
  const quantity* current = nullptr;
  for (const auto& one : rows) {
    if (current == nullptr || *current != one.what) {
      if (current != nullptr)
        lines.emplace_back();
      lines.push_back(headings(one.what, peers));
    }
    current = &one.what;
    lines.push_back(cells_of(one, peers));
  }

  std::vector<std::size_t> widths(4 + peers.size(), 0);
  for (const auto& cells : lines)
    for (std::size_t i = 0; i < cells.size(); ++i)
      widths[i] = std::max(widths[i], cells[i].size());
  std::string text;
  for (const auto& cells : lines) {
    for (std::size_t i = 0; i < cells.size(); ++i)
      text += i == 0 ? fmt::format("{:<{}}", cells[i], widths[i]) : fmt::format("  {:>{}}", cells[i], widths[i]);
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  return text;
}

std::string json_line(std::string_view benchmark, const row& row) {
  std::string ratios;
  for (const auto& [peer, ratio] : row.ratio_to)
    ratios += fmt::format("{}{}: {}", ratios.empty() ? "" : ", ", in_json(peer), number(ratio));
  return fmt::format(R"({{"bench": {}, "case": {}, "subject": {}, "unit": {}, "median": {}, "min": {}, "max": {}, )"
                     R"("ratio_to": {{{}}}}})",
                     in_json(benchmark), in_json(row.what.name), in_json(row.subject), in_json(row.what.unit),
                     number(row.median), number(row.min), number(row.max), ratios);
}

std::string json_line(std::string_view benchmark, const std::string& subject, const failure& failed) {
  return fmt::format(R"({{"bench": {}, "subject": {}, "is_absent": {}, "reason": {}}})", in_json(benchmark),
                     in_json(subject), failed.is_absent, in_json(failed.reason));
}

void write_json(std::ostream& out, std::string_view benchmark, const std::vector<row>& rows,
                const std::vector<std::pair<std::string, failure>>& failures) {
  for (const auto& one : rows)
    out << json_line(benchmark, one) << '\n';
  for (const auto& [subject, failed] : failures)
    out << json_line(benchmark, subject, failed) << '\n';
}

} // namespace bench
