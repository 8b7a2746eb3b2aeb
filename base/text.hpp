// Text from peers and user code, made safe for errors and logs.
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

/// The text of an exception. A user's what() may return null.
[[nodiscard]] inline std::string_view exception_text(const std::exception& thrown) noexcept {
  const auto* const text = thrown.what();
  return text != nullptr ? std::string_view(text) : "an exception without a text";
}

/// Makes a text that cannot pass for lines of this process, steer a terminal or break a UTF-8 reader: each character
/// that is not harmless becomes a question mark. Cuts a text of more than `bytes_max` between characters and appends
/// " ...". Requires: `bytes_max` has room for " ...".
[[nodiscard]] TROUPE_EXPORT std::string one_line(std::string_view text, std::size_t bytes_max);

/// Like one_line() without a length limit; does not copy plain ASCII.
[[nodiscard]] TROUPE_EXPORT std::string on_one_line(std::string text);

} // namespace troupe
