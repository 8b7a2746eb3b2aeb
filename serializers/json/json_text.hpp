// Texts in JSON: UTF-8, escapes, and base64 for bytes that are not UTF-8.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <troupe/serializers/extend/encode_output.hpp>

namespace troupe::json {

/// Appends the text with the necessary escapes, without quotes. Requires: is_utf8(text).
void append_escaped(byte_buffer& to, std::string_view text);

/// The length of the escape at the beginning of `text`, which may be two \u that form one character; 0 if it is not
/// valid. Requires: `text` begins with a backslash.
[[nodiscard]] std::size_t escape_bytes(std::string_view text);

/// Copies the text to `to` and replaces escapes by their characters. `to` must have room for as many bytes as the text
/// has. Returns the number of bytes written. Requires: each escape has passed escape_bytes().
[[nodiscard]] std::size_t unescape(std::string_view text, char* to);

/// Appends padded base64 (RFC 4648).
void append_base64(byte_buffer& to, std::span<const std::byte> bytes);

/// The largest number of bytes that base64 text of that length can decode to.
[[nodiscard]] constexpr std::size_t base64_bytes_max(std::size_t text_bytes) {
  return text_bytes / 4 * 3;
}

inline constexpr std::size_t no_base64 = static_cast<std::size_t>(-1);

/// Decodes base64 (RFC 4648) to `to`, which may be the memory of the text itself. Returns the number of bytes, or
/// `no_base64` for anything but the one canonical, padded form.
[[nodiscard]] std::size_t decode_base64(std::string_view text, char* to);

} // namespace troupe::json
