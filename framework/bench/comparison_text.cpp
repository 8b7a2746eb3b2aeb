// A comparison as tables and as JSON.
#include <troupe/framework/bench/codec_rows.hpp>

#include "harness/plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <troupe/base/text.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace troupe::bench {

namespace {

using json_value = nlohmann::ordered_json;
using detail::codec_rows;

/// A column is as wide as its widest cell. The first `left` columns begin at the left.
[[nodiscard]] std::string aligned(const std::vector<std::vector<std::string>>& lines, std::size_t left) {
  std::vector<std::size_t> widths(lines.front().size());
  for (const auto& line : lines)
    for (std::size_t i = 0; i < line.size(); ++i)
      widths[i] = std::max(widths[i], line[i].size());
  std::string made;
  for (const auto& line : lines) {
    std::string text;
    for (std::size_t i = 0; i < line.size(); ++i)
      text += i < left ? fmt::format("{:<{}}  ", line[i], widths[i]) : fmt::format("{:>{}}  ", line[i], widths[i]);
    text.erase(text.find_last_not_of(' ') + 1);
    made += text + '\n';
  }
  return made;
}

/// "1.2 us +-4 %": half the width of the middle half of the rounds, in relation to the median.
[[nodiscard]] std::string time_cell(const figure& nanoseconds, std::size_t rounds) {
  if (nanoseconds.median <= 0)
    return "-";
  const auto median = detail::time_text(nanoseconds.median);
  if (rounds < 2)
    return median;
  return fmt::format("{} +-{:.0f} %", median, 50 * (nanoseconds.high - nanoseconds.low) / nanoseconds.median);
}

/// Speeds of networks for which the table has estimates, in bits per second.
constexpr std::array<double, 4> speeds{1e7, 1e8, 1e9, 1e10};

[[nodiscard]] std::string codec_table(const comparison& of) {
  std::vector<std::vector<std::string>> lines{{"family", "compression", "bytes", "encode", "decode"}};
  for (const auto speed : speeds)
    lines.front().push_back("at " + detail::speed_text(speed));
  for (const auto* row : codec_rows(of)) {
    auto& line = lines.emplace_back(std::vector{row->family, std::string(to_string(row->compression)),
                                                detail::bytes_text(row->bytes),
                                                (row->needs_program ? "-" : time_cell(row->encode_ns, of.rounds)),
                                                (row->needs_program ? "-" : time_cell(row->decode_ns, of.rounds))});
    for (const auto speed : speeds)
      for (const auto& each : of.at(speed))
        if (each.family == row->family && each.compression == row->compression)
          line.push_back(detail::time_text(each.total_ns()));
  }
  return lines.size() > 1 ? '\n' + aligned(lines, 2) : "";
}

[[nodiscard]] std::string link_table(const comparison& of) {
  std::vector<std::vector<std::string>> lines{
      {"over", "family", "compression", "one way", "messages/s", "round trip", "through the socket", "by handle"}};
  for (const auto& row : of.rows)
    if (row.is_measured())
      lines.push_back({row.over, row.is_encoded() ? row.family : "-", std::string(to_string(row.compression)),
                       time_cell(row.one_way_ns, of.rounds),
                       ::bench::number_text(row.messages_per_second.median, ::bench::axis_numbers::plain),
                       time_cell(row.round_trip_ns, of.rounds), detail::bytes_text(row.socket_bytes),
                       detail::bytes_text(row.handle_bytes)});
  return lines.size() > 1 ? '\n' + aligned(lines, 3) : "";
}

/// Each reason of a family once, with the links that it concerns.
[[nodiscard]] std::string failures_of(const comparison& of) {
  struct reason {
    std::string family;
    std::string text;
    std::vector<std::string> over;
  };
  std::vector<reason> reasons;
  for (const auto& row : of.rows) {
    if (row.is_measured())
      continue;
    auto same = std::ranges::find_if(
        reasons, [&](const auto& each) { return each.family == row.family && each.text == row.failure; });
    if (same == reasons.end())
      same = reasons.insert(same, {row.family, row.failure, {}});
    if (std::ranges::find(same->over, row.over) == same->over.end())
      same->over.push_back(row.over);
  }
  std::string made;
  for (const auto& [family, text, over] : reasons)
    made += on_one_line(fmt::format("{} over {}: {}", family, fmt::join(over, ", "), text)) + '\n';
  return made.empty() ? "" : "\nnot measured:\n" + made;
}

[[nodiscard]] json_value document_of(const figure& of) {
  return {{"median", of.median}, {"min", of.min}, {"max", of.max}, {"low", of.low}, {"high", of.high}};
}

[[nodiscard]] json_value document_of(const comparison_row& row) {
  json_value made{{"family", row.family}, {"compression", to_string(row.compression)}, {"over", row.over}};
  if (!row.is_measured()) {
    made["failure"] = row.failure;
    return made;
  }
  made["needs_trust"] = row.needs_trust;
  if (row.needs_program)
    made["needs_program"] = true;
  made["bytes"] = row.bytes;
  made["socket_bytes"] = row.socket_bytes;
  made["handle_bytes"] = row.handle_bytes;
  for (const auto& [name, values] : {std::pair{"encode_ns", &row.encode_ns},
                                     {"decode_ns", &row.decode_ns},
                                     {"one_way_ns", &row.one_way_ns},
                                     {"round_trip_ns", &row.round_trip_ns},
                                     {"messages_per_second", &row.messages_per_second}})
    made[name] = document_of(*values);
  return made;
}

/// JSON knows no infinity: null stands for "always pays".
[[nodiscard]] json_value document_of(const break_even& one) {
  return {{"family", one.family},
          {"compression", to_string(one.compression)},
          {"bits_per_second", std::isinf(one.bits_per_second) ? json_value(nullptr) : json_value(one.bits_per_second)},
          {"bytes_saved", one.bytes_saved}};
}

} // namespace

std::string comparison::table() const {
  return fmt::format("{}, {} {}; {}\n", on_one_line(type), samples, samples == 1 ? "sample" : "samples",
                     rounds == 1 ? "one round" : fmt::format("medians of {} rounds, +- of their middle half", rounds))
         + (note.empty() ? "" : "note: " + on_one_line(note) + '\n')
         + (is_optimized ? "" : "note: compiled without optimization, so the figures mean nothing\n")
         + codec_table(*this) + link_table(*this) + failures_of(*this);
}

std::string comparison::json() const {
  json_value made{{"kind", "comparison"},
                  {"type", type},
                  {"samples", samples},
                  {"rounds", rounds},
                  {"is_optimized", is_optimized},
                  {"note", note},
                  {"advice", advice()},
                  {"rows", json_value::array()},
                  {"break_evens", json_value::array()}};
  for (const auto& row : rows)
    made["rows"].push_back(document_of(row));
  for (const auto& each : break_evens())
    made["break_evens"].push_back(document_of(each));
  return made.dump(2, ' ', false, json_value::error_handler_t::replace) + '\n';
}

std::vector<const comparison_row*> detail::codec_rows(const comparison& of) {
  std::vector<const comparison_row*> made;
  for (const auto& row : of.rows) {
    const auto is_known = std::ranges::any_of(
        made, [&](const auto* known) { return known->family == row.family && known->compression == row.compression; });
    if (row.is_measured() && row.is_encoded() && !is_known)
      made.push_back(&row);
  }
  return made;
}

std::string detail::time_text(double nanoseconds) {
  return ::bench::number_text(nanoseconds / 1e9, ::bench::axis_numbers::seconds);
}

std::string detail::speed_text(double bits_per_second) {
  auto text = ::bench::number_text(bits_per_second, ::bench::axis_numbers::plain);
  return (text.find(' ') == std::string::npos ? text + ' ' : text) + "bit/s";
}

std::string detail::bytes_text(double bytes) {
  return ::bench::number_text(bytes, ::bench::axis_numbers::bytes);
}

std::string detail::codec_text(const std::string& family, troupe::compression how) {
  return how == compression::none ? family : family + ' ' + std::string(to_string(how));
}

} // namespace troupe::bench
