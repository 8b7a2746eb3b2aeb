// Text helpers for the messages of links.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <troupe/base/text.hpp>

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

/// The maximum length of foreign text in one of this node's messages.
inline constexpr std::size_t quoted_bytes_max = 1024;

[[nodiscard]] inline std::string cut(std::string_view text) {
  if (text.size() <= quoted_bytes_max)
    return std::string{text};
  return std::string{text.substr(0, quoted_bytes_max)} + " ...";
}

using troupe::one_line;

/// Like troupe::one_line(), with a limit that none of this node's own messages reaches.
[[nodiscard]] std::string one_line(std::string_view text);

} // namespace troupe::internal
