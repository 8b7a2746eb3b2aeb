#include "text.hpp"

#include <troupe/framework/base/sizes.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace troupe::tools {

std::string table(const std::vector<std::vector<std::string>>& lines, const std::string& sides) {
  auto widths = std::vector<std::size_t>(lines.front().size());
  for (const auto& line : lines)
    for (auto column = std::size_t{0}; column < line.size(); ++column)
      widths[column] = std::max(widths[column], line[column].size());
  auto text = std::string{};
  for (const auto& line : lines) {
    auto row = std::string{};
    for (auto column = std::size_t{0}; column < line.size(); ++column)
      row += sides[column] == '>' ? fmt::format("{:>{}}  ", line[column], widths[column])
                                  : fmt::format("{:<{}}  ", line[column], widths[column]);
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + '\n';
  }
  return text;
}

std::string printable(std::string text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0;
    if ((byte < 0x20 && byte != '\n') || byte == 0x7f)
      text[i] = '?';
    else if (byte == 0xc2 && next >= 0x80 && next < 0xa0) // A control character of two bytes in UTF-8.
      text[i] = text[i + 1] = '?';
  }
  return text;
}

std::string text_of(std::chrono::nanoseconds age) {
  const auto seconds = std::chrono::duration<double>(age).count();
  if (seconds < 120)
    return fmt::format("{:.1f} s", seconds);
  if (seconds < 7'200)
    return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.0f} h", seconds / 3'600);
}

std::string text_of(const std::vector<object_group>& groups) {
  if (groups.empty())
    return "no objects\n";
  auto lines = std::vector<std::vector<std::string>>{{"", "objects", "bytes"}};
  for (const auto& group : groups)
    lines.push_back({group.of, grouped(group.objects), grouped(group.bytes)});
  return table(lines, "<>>");
}

std::string json_of(const std::vector<object_group>& groups) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& group : groups)
    list.push_back({{"of", group.of}, {"objects", group.objects}, {"bytes", group.bytes}});
  return list.dump(2) + '\n';
}

} // namespace troupe::tools
