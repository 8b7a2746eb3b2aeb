#include <troupe/serializers/json/json_text.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include <troupe/base/utf8.hpp>

namespace troupe::json {

namespace {

constexpr std::string_view base64_digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t no_digit = 64;

constexpr auto digit_values = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(no_digit);
  for (std::size_t i = 0; i < base64_digits.size(); ++i)
    values[static_cast<unsigned char>(base64_digits[i])] = static_cast<std::uint8_t>(i);
  return values;
}();

constexpr std::size_t unicode_escape_bytes = 6; // \u and four digits.

/// The characters behind the backslash of a short escape, and their meanings.
constexpr std::string_view short_escapes = "\"\\/bfnrt";
constexpr std::string_view short_meanings = "\"\\/\b\f\n\r\t";

bool is_plain(char c) {
  return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\';
}

int hex_digit(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

/// The value of a \u escape at the beginning of the text; negative if there is none.
std::int32_t unicode_escape(std::string_view text) {
  if (text.size() < unicode_escape_bytes || text[0] != '\\' || text[1] != 'u')
    return -1;
  std::int32_t value = 0;
  for (const auto c : text.substr(2, 4)) {
    const auto digit = hex_digit(c);
    if (digit < 0)
      return -1;
    value = value * 16 + digit;
  }
  return value;
}

bool is_high_surrogate(std::int32_t value) {
  return value >= 0xd800 && value < 0xdc00;
}

bool is_low_surrogate(std::int32_t value) {
  return value >= 0xdc00 && value < 0xe000;
}

} // namespace

void append_escaped(byte_buffer& to, std::string_view text) {
  while (!text.empty()) {
    std::size_t plain = 0;
    while (plain < text.size() && is_plain(text[plain]))
      ++plain;
    to.append(std::as_bytes(std::span(text.substr(0, plain))));
    if (plain == text.size())
      return;
    const auto c = text[plain];
    text.remove_prefix(plain + 1);
    char escape[unicode_escape_bytes] = {'\\', 'u', '0', '0', c < 0x10 ? '0' : '1', "0123456789abcdef"[c & 0x0f]};
    std::size_t length = unicode_escape_bytes;
    if (const auto at = short_meanings.find(c); at != std::string_view::npos) {
      escape[1] = short_escapes[at];
      length = 2;
    }
    to.append(std::as_bytes(std::span(escape, length)));
  }
}

std::size_t escape_bytes(std::string_view text) {
  if (text.size() >= 2 && short_escapes.find(text[1]) != std::string_view::npos)
    return 2;
  const auto value = unicode_escape(text);
  if (value < 0 || is_low_surrogate(value))
    return 0;
  if (!is_high_surrogate(value))
    return unicode_escape_bytes;
  return is_low_surrogate(unicode_escape(text.substr(unicode_escape_bytes))) ? 2 * unicode_escape_bytes : 0;
}

std::size_t unescape(std::string_view text, char* to) {
  auto* const begin = to;
  while (!text.empty()) {
    const auto plain = std::min(text.find('\\'), text.size());
    std::memcpy(to, text.data(), plain);
    to += plain;
    text.remove_prefix(plain);
    if (text.empty())
      break;
    const auto length = escape_bytes(text);
    if (length == 2) {
      *to++ = short_meanings[short_escapes.find(text[1])];
    } else {
      auto point = static_cast<char32_t>(unicode_escape(text));
      if (length > unicode_escape_bytes) {
        const auto low = static_cast<char32_t>(unicode_escape(text.substr(unicode_escape_bytes)));
        point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
      }
      to = write_utf8(point, to);
    }
    text.remove_prefix(length);
  }
  return static_cast<std::size_t>(to - begin);
}

void append_base64(byte_buffer& to, std::span<const std::byte> bytes) {
  to.reserve((bytes.size() + 2) / 3 * 4);
  auto* at = to.end();
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto count = std::min<std::size_t>(bytes.size() - i, 3);
    std::uint32_t bits = 0;
    for (std::size_t j = 0; j < 3; ++j)
      bits = bits << 8 | (j < count ? std::to_integer<std::uint32_t>(bytes[i + j]) : 0U);
    for (std::size_t j = 0; j < 4; ++j)
      *at++ = static_cast<std::byte>(j <= count ? base64_digits[bits >> (18 - 6 * j) & 63] : '=');
  }
  to.advance_to(at);
}

std::size_t decode_base64(std::string_view text, char* to) {
  if (text.size() % 4 != 0)
    return no_base64;
  auto* const begin = to;
  while (!text.empty()) {
    std::size_t count = 4; // Digits that are not padding.
    if (text.size() == 4)
      count -= text[3] != '=' ? 0 : text[2] != '=' ? 1 : 2;
    std::uint32_t bits = 0;
    for (std::size_t j = 0; j < 4; ++j) {
      const auto value = j < count ? digit_values[static_cast<unsigned char>(text[j])] : std::uint8_t{0};
      if (value == no_digit)
        return no_base64;
      bits = bits << 6 | value;
    }
    text.remove_prefix(4);
    const auto unused = 8 * (4 - count); // Bits without a meaning must be zero.
    if ((bits & ((1U << unused) - 1)) != 0)
      return no_base64;
    for (std::size_t j = 0; j + 1 < count; ++j)
      *to++ = static_cast<char>(bits >> (16 - 8 * j) & 0xff);
  }
  return static_cast<std::size_t>(to - begin);
}

} // namespace troupe::json
