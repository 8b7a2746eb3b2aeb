// Texts of somebody else's, as errors and logs show them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include <troupe/base/export.hpp>

namespace troupe {

/// What an exception says of itself. A user's what() may give null.
[[nodiscard]] inline std::string_view exception_text(const std::exception& thrown) noexcept {
  const auto* const text = thrown.what();
  return text != nullptr ? std::string_view(text) : "an exception without a text";
}

/// A text that cannot look like lines of this process's own, steer a terminal or break a reader of UTF-8: a question
/// mark stands for each character that is not harmless. A text of more than `bytes_max` is cut, between characters, and
/// ends in " ...". Requires: room for that.
[[nodiscard]] TROUPE_EXPORT std::string one_line(std::string_view text, std::size_t bytes_max);

/// The same of any length; no copy where the text is plain ASCII.
[[nodiscard]] TROUPE_EXPORT std::string on_one_line(std::string text);

} // namespace troupe
