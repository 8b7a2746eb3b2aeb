#include "text.hpp"

#include <troupe/base/sizes.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <utility>

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

/// How many bytes the character takes that begins there, and what it is; 0 bytes where there is none.
[[nodiscard]] std::pair<std::size_t, char32_t> character_at(const std::string& text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto first = byte(at);
  const auto length = first < 0x80   ? 1u
                      : first < 0xc2 ? 0u
                      : first < 0xe0 ? 2u
                      : first < 0xf0 ? 3u
                      : first < 0xf5 ? 4u
                                     : 0u;
  if (length == 0 || at + length > text.size())
    return {0, 0};
  auto value = static_cast<char32_t>(length == 1 ? first : first & (0xffu >> (length + 1)));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xc0) != 0x80)
      return {0, 0};
    value = value << 6 | (byte(at + i) & 0x3fu);
  }
  constexpr std::array<char32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
  const auto is_whole = value >= least[length] && value <= 0x10ffff && (value < 0xd800 || value > 0xdfff);
  return is_whole ? std::pair{std::size_t{length}, value} : std::pair<std::size_t, char32_t>{0, 0};
}

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
    const auto [length, each] = character_at(text, i);
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
  for (std::size_t i = 0; i < line.size(); ++i)
    if ((static_cast<unsigned char>(line[i]) & 0xc0) != 0x80 && ++characters > characters_max)
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
