// Words that several messages of a link share.
#pragma once

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

/// What a text of somebody else's may take in a message of ours.
inline constexpr std::size_t quoted_bytes_max = 1024;

[[nodiscard]] inline std::string cut(std::string_view text) {
  if (text.size() <= quoted_bytes_max)
    return std::string{text};
  return std::string{text.substr(0, quoted_bytes_max)} + " ...";
}

} // namespace troupe::internal
