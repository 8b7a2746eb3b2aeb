// Texts as JSON has them: UTF-8, escapes, and base64 for what is neither.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <troupe/serializers/encode_output.hpp>

namespace troupe::json {

/// Appends the text with the escapes that it needs, without quotes. Requires: is_utf8(text).
void append_escaped(byte_buffer& to, std::string_view text);

/// The bytes of the escape at the front, two \u in a row where they make one character: 0 when it is none. Requires:
/// `text` begins with a backslash.
[[nodiscard]] std::size_t escape_bytes(std::string_view text);

/// Puts characters in the place of escapes, at `to`, which has room for as many bytes as the text has. Gives how many
/// came out. Requires: each escape has passed escape_bytes().
[[nodiscard]] std::size_t unescape(std::string_view text, char* to);

/// Appends base64 as RFC 4648 has it, padded.
void append_base64(byte_buffer& to, std::span<const std::byte> bytes);

/// The bytes that so much base64 stands for, at most.
[[nodiscard]] constexpr std::size_t base64_bytes_max(std::size_t text_bytes) {
  return text_bytes / 4 * 3;
}

inline constexpr std::size_t no_base64 = static_cast<std::size_t>(-1);

/// Turns base64 into bytes at `to`, which may be where the text stands; gives how many. `no_base64` for anything but
/// the one padded form that the bytes have.
[[nodiscard]] std::size_t decode_base64(std::string_view text, char* to);

} // namespace troupe::json
