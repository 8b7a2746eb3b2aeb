// Words that several messages of a link share.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::internal {

/// "[typed, msgpack]".
[[nodiscard]] inline std::string bracketed(const std::vector<std::string>& names) {
  std::string text = "[";
  for (const auto& name : names)
    text += (text.size() > 1 ? ", " : "") + name;
  return text + ']';
}

/// "00ff17".
[[nodiscard]] inline std::string hex(std::span<const std::byte> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (auto byte : bytes) {
    text += digits[static_cast<unsigned>(byte) >> 4];
    text += digits[static_cast<unsigned>(byte) & 15];
  }
  return text;
}

/// What a text of somebody else's may take in a message of ours.
inline constexpr std::size_t quoted_bytes_max = 1024;

[[nodiscard]] inline std::string cut(std::string_view text) {
  if (text.size() <= quoted_bytes_max)
    return std::string{text};
  return std::string{text.substr(0, quoted_bytes_max)} + " ...";
}

/// Texts of somebody else could look like lines of this node's own, steer a terminal, or break what reads UTF-8:
/// control characters, what changes the direction of writing, and bytes that are no UTF-8 become question marks. What
/// is longer than `bytes_max` is cut, between characters, and ends in " ...". Requires: room for that.
[[nodiscard]] std::string one_line(std::string_view text, std::size_t bytes_max = 8 * quoted_bytes_max);

} // namespace troupe::internal
