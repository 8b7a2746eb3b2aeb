#include "tape/costs.hpp"

#include "text.hpp"

#include <troupe/base/sizes.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <map>
#include <string_view>
#include <vector>

namespace troupe::tools {

namespace {

using json = nlohmann::ordered_json;

std::string_view sender_of(tape_side writer) {
  return writer == tape_side::peer ? "peer" : "recorder";
}

std::string_view word_of(tape_cost_basis basis) {
  switch (basis) {
  case tape_cost_basis::none:
    return "none";
  case tape_cost_basis::type:
    return "type";
  case tape_cost_basis::record:
    return "record";
  case tape_cost_basis::payload:
    return "payload";
  }
  return "none";
}

double microseconds_each(std::chrono::nanoseconds time, std::uint64_t payloads) {
  return payloads == 0 ? 0 : static_cast<double>(time.count()) / 1'000 / static_cast<double>(payloads);
}

std::string table_of(const tape_cost_row& row) {
  std::vector<std::vector<std::string>> lines{
      {"family", "compression", "bytes", "of recorded", "encode us", "decode us", "measured"}};
  std::map<std::string, std::string> reasons; // By what could not be measured.
  const auto recorded = std::ranges::find_if(row.figures, [&](const auto& each) {
    return each.family == row.family && each.compressed_by == row.compressed_by;
  });
  for (const auto& each : row.figures) {
    if (!each.why_not.empty()) {
      auto& names = reasons[each.why_not];
      if (names.find(each.family) == std::string::npos)
        names += (names.empty() ? "" : ", ") + each.family;
    }
    if (each.payloads == 0)
      continue;
    const auto ratio =
        recorded == row.figures.end() || recorded->bytes == 0 || recorded->payloads != each.payloads
            ? std::string{}
            : fmt::format("{:.2f}", static_cast<double>(each.bytes) / static_cast<double>(recorded->bytes));
    lines.push_back({each.family, std::string{to_string(each.compressed_by)}, grouped(each.bytes), ratio,
                     fmt::format("{:.2f}", microseconds_each(each.encode, each.payloads)),
                     fmt::format("{:.2f}", microseconds_each(each.decode, each.payloads)),
                     std::string{word_of(each.basis)}});
  }
  auto text = in_line(fmt::format("link {}, sent by the {}, type {}: {} of {} measured, recorded by {}", row.link,
                                  sender_of(row.writer), row.type.empty() ? "?" : row.type, grouped(row.measured),
                                  several(row.payloads, "payload"), row.family),
                      1'000)
              + '\n';
  if (lines.size() > 1)
    text += table(std::move(lines), "<<>>>><");
  for (const auto& [reason, names] : reasons)
    text += in_line("not measured: " + names + ": " + reason, 1'000) + '\n';
  return text + '\n';
}

json json_of_figure(const tape_cost_figure& of) {
  json result{{"family", of.family},
              {"compression", to_string(of.compressed_by)},
              {"basis", word_of(of.basis)},
              {"payloads", of.payloads},
              {"bytes", of.bytes},
              {"encode_ns", of.encode.count()},
              {"decode_ns", of.decode.count()}};
  if (!of.why_not.empty())
    result["why_not"] = of.why_not;
  return result;
}

} // namespace

std::string text_of(const tape_cost_report& report) {
  std::string text;
  auto has_records = false;
  for (const auto& each : report.rows) {
    text += table_of(each);
    has_records = has_records || std::ranges::any_of(each.figures, [](const auto& figure) {
                    return figure.basis == tape_cost_basis::record;
                  });
  }
  if (has_records)
    text += "record: without the C++ type, records with the same content were encoded and decoded, so times are "
            "estimates. troupe::tape_cost() does the same with the types in the program.\n\n";
  for (const auto& [reason, count] : report.left_out)
    text += in_line("left out: " + several(count, "payload") + ": " + reason, 1'000) + '\n';
  for (const auto& each : report.advice)
    text += printable(each.configuration) + '\n';
  if (report.rows.empty())
    text += "the tape has no payloads\n";
  return text;
}

std::string json_of(const tape_cost_report& report) {
  json result{{"rows", json::array()}, {"advice", json::array()}, {"left_out", json::object()}};
  for (const auto& each : report.rows) {
    json row{{"link", each.link},
             {"sender", sender_of(each.writer)},
             {"type", each.type},
             {"family", each.family},
             {"compression", to_string(each.compressed_by)},
             {"payloads", each.payloads},
             {"bytes", each.bytes},
             {"measured", each.measured},
             {"figures", json::array()}};
    for (const auto& figure : each.figures)
      row["figures"].push_back(json_of_figure(figure));
    result["rows"].push_back(row);
  }
  for (const auto& each : report.advice)
    result["advice"].push_back({{"link", each.link},
                                {"end", sender_of(each.writer)},
                                {"is_change", each.is_change},
                                {"serializers", each.serializers},
                                {"compression", to_string(each.compressed_by)},
                                {"as_recorded_ns", each.as_recorded.count()},
                                {"advised_ns", each.advised.count()},
                                {"configuration", each.configuration}});
  for (const auto& [reason, count] : report.left_out)
    result["left_out"][reason] = count;
  result["damages"] = report.damages;
  return result.dump(2, ' ', false, json::error_handler_t::replace) + '\n';
}

} // namespace troupe::tools
