#include <troupe/base/text.hpp>

#include <algorithm>

#include <troupe/base/utf8.hpp>

namespace troupe {

namespace {

struct shown_character {
  std::size_t bytes = 1;
  bool is_harmless = false;
};

/// Not harmless are control characters, characters that change the writing direction, and bytes that are not UTF-8.
/// Such bytes count one at a time.
shown_character first_shown(std::string_view text) {
  const auto [bytes, code] = first_character(text);
  if (bytes == 0)
    return {};
  const auto is_control = code < 0x20 || (code >= 0x7f && code < 0xa0);
  const auto turns_lines =
      code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
  return {bytes, !is_control && !turns_lines};
}

} // namespace

std::string one_line(std::string_view text, std::size_t bytes_max) {
  constexpr std::string_view more = " ...";
  std::string result;
  result.reserve(std::min(text.size(), bytes_max));
  std::size_t whole = 0; // The longest prefix of `result` that leaves room for `more`.
  while (!text.empty()) {
    const auto next = first_shown(text);
    if (result.size() + (next.is_harmless ? next.bytes : 1) > bytes_max)
      return result.substr(0, whole) + std::string(more);
    if (next.is_harmless)
      result += text.substr(0, next.bytes);
    else
      result += '?';
    text.remove_prefix(next.bytes);
    if (result.size() + more.size() <= bytes_max)
      whole = result.size();
  }
  return result;
}

std::string on_one_line(std::string text) {
  const auto is_plain = std::all_of(text.begin(), text.end(), [](char each) { return each >= 0x20 && each < 0x7f; });
  return is_plain ? text : one_line(std::string_view(text), text.size());
}

} // namespace troupe
