#include "text.hpp"

#include <troupe/base/sizes.hpp>
#include <troupe/base/utf8.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace troupe::tools {

std::string table(std::vector<std::vector<std::string>> lines, const std::string& sides) {
  for (auto& line : lines)
    for (auto& cell : line)
      cell = in_line(cell);
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

namespace {

[[nodiscard]] bool is_harmless(char32_t each) {
  const auto is_control = each < 0x20 || (each >= 0x7f && each < 0xa0);
  const auto turns = (each >= 0x200b && each <= 0x200f) || (each >= 0x2028 && each <= 0x202e)
                     || (each >= 0x2060 && each <= 0x206f) || each == 0xfeff;
  return !is_control && !turns;
}

} // namespace

std::string printable(std::string text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const auto [length, each] = first_character(std::string_view(text).substr(i));
    if (length > 0 && (each == '\n' || is_harmless(each)))
      result.append(text, i, length);
    else
      result += '?';
    i += std::max<std::size_t>(length, 1);
  }
  return result;
}

std::string reason_in_line(const std::string& text) {
  return in_line(text, 1'000);
}

std::string in_line(const std::string& text, std::size_t characters_max) {
  auto line = printable(text);
  std::ranges::replace(line, '\n', ' ');
  std::size_t characters = 0;
  for (std::size_t i = 0; i < line.size(); i += first_character(std::string_view(line).substr(i)).bytes)
    if (++characters > characters_max)
      return line.substr(0, i) + "...";
  return line;
}

std::string text_of(std::chrono::nanoseconds age) {
  const auto seconds = std::chrono::duration<double>(age).count();
  if (seconds < 120)
    return fmt::format("{:.1f} s", seconds);
  if (seconds < 7'200)
    return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.0f} h", seconds / 3'600);
}

std::string text_of_age(std::int64_t milliseconds) {
  return milliseconds < 0 ? "" : text_of(std::chrono::nanoseconds{std::chrono::milliseconds{milliseconds}});
}

std::string several(std::uint64_t count, std::string_view what) {
  return grouped(count) + ' ' + std::string{what} + (count == 1 ? "" : "s");
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
