// Texts of somebody else's, as errors and logs show them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace troupe {

/// What an exception says of itself. A user's what() may give null.
[[nodiscard]] inline std::string_view exception_text(const std::exception& thrown) noexcept {
  const auto* const text = thrown.what();
  return text != nullptr ? std::string_view(text) : "an exception without a text";
}

namespace detail {

struct shown_character {
  std::size_t bytes = 1;
  bool is_harmless = false;
};

/// The first one of a text in UTF-8. Not harmless: control characters, what changes the direction of writing, and bytes
/// that are no UTF-8. Requires: not empty.
[[nodiscard]] inline shown_character first_character(std::string_view text) noexcept {
  const auto byte_at = [&](std::size_t index) { return static_cast<std::uint8_t>(text[index]); };
  const auto lead = byte_at(0);
  if (lead < 0x80)
    return {1, lead >= 0x20 && lead != 0x7f};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes)
    return {};
  auto code = static_cast<char32_t>(lead & (0xffU >> (bytes + 1)));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte_at(i) & 0xc0) != 0x80)
      return {};
    code = code << 6 | (byte_at(i) & 0x3fU);
  }
  const char32_t least = bytes == 4 ? 0x10000 : bytes == 3 ? 0x800 : 0x80;
  if (code < least || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
    return {};
  const auto turns_lines =
      code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
  return {bytes, code >= 0xa0 && !turns_lines};
}

} // namespace detail

/// A text that cannot look like lines of this process's own, steer a terminal or break a reader of UTF-8: a question
/// mark stands for each character that is not harmless. A text of more than `bytes_max` is cut, between characters, and
/// ends in " ...". Requires: room for that.
[[nodiscard]] inline std::string one_line(std::string_view text, std::size_t bytes_max) {
  constexpr std::string_view more = " ...";
  std::string result;
  result.reserve(std::min(text.size(), bytes_max));
  std::size_t whole = 0; // Of `result`, what leaves room for the mark.
  while (!text.empty()) {
    const auto next = detail::first_character(text);
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

/// The same of any length; no copy where the text is plain ASCII.
[[nodiscard]] inline std::string on_one_line(std::string text) {
  const auto is_plain = std::all_of(text.begin(), text.end(), [](char each) { return each >= 0x20 && each < 0x7f; });
  return is_plain ? text : one_line(std::string_view(text), text.size());
}

} // namespace troupe
