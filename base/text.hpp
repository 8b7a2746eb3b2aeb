// Makes text from peers and user code safe for errors and logs.
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

/// The text of an exception, or "an exception without a text" if its what() returns null, which a user's type may do.
/// Valid while the exception lives.
[[nodiscard]] inline std::string_view exception_text(const std::exception& thrown) noexcept {
  const auto* const text = thrown.what();
  return text != nullptr ? std::string_view(text) : "an exception without a text";
}

/// Makes a text safe to print: it cannot pass for lines of this process, steer a terminal or break a reader of UTF-8.
/// Each control character, each character that changes the writing direction, and each byte that is not UTF-8 becomes a
/// question mark. A result of more than `bytes_max` bytes is cut between characters and ends with " ...". Requires:
/// `bytes_max` has room for " ...".
[[nodiscard]] TROUPE_EXPORT std::string one_line(std::string_view text, std::size_t bytes_max);

/// Like one_line(), without a length limit.
[[nodiscard]] TROUPE_EXPORT std::string on_one_line(std::string text);

} // namespace troupe
