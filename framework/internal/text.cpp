#include <troupe/framework/internal/text.hpp>

#include <algorithm>

namespace troupe::internal {

namespace {

struct character {
  char32_t code = 0;
  std::size_t bytes = 1;
  bool is_valid = false;
};

unsigned byte_at(std::string_view text, std::size_t index) {
  return static_cast<unsigned char>(text[index]);
}

/// The first one. Requires: not empty.
character first_of(std::string_view text) {
  const auto lead = byte_at(text, 0);
  if (lead < 0x80)
    return {lead, 1, true};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes)
    return {};
  char32_t code = lead & (0xffu >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte_at(text, i) & 0xc0) != 0x80)
      return {};
    code = code << 6 | (byte_at(text, i) & 0x3f);
  }
  const char32_t least = bytes == 4 ? 0x10000 : bytes == 3 ? 0x800 : 0x80;
  if (code < least || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
    return {};
  return {code, bytes, true};
}

bool is_harmless(char32_t code) {
  const auto is_control = code < 0x20 || (code >= 0x7f && code < 0xa0);
  const auto turns_lines =
      code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
  return !is_control && !turns_lines;
}

} // namespace

std::string one_line(std::string_view text, std::size_t bytes_max) {
  constexpr std::string_view more = " ...";
  std::string result;
  result.reserve(std::min(text.size(), bytes_max));
  std::size_t whole = 0; // Of `result`, what leaves room for the mark.
  while (!text.empty()) {
    const auto next = first_of(text);
    const auto is_shown = next.is_valid && is_harmless(next.code);
    if (result.size() + (is_shown ? next.bytes : 1) > bytes_max)
      return result.substr(0, whole) + std::string{more};
    if (is_shown)
      result += text.substr(0, next.bytes);
    else
      result += '?';
    text.remove_prefix(next.bytes);
    if (result.size() + more.size() <= bytes_max)
      whole = result.size();
  }
  return result;
}

} // namespace troupe::internal
