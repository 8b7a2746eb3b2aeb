// UTF-8: decoding, checking and encoding.
#pragma once

#include <cstddef>
#include <string_view>

#include <troupe/base/export.hpp>

namespace troupe {

/// The first character of a text.
struct utf8_character {
  std::size_t bytes = 0; ///< 0 if the text does not begin with a whole UTF-8 character.
  char32_t code = 0;
};

/// Decodes the first character. Requires: `text` is not empty.
[[nodiscard]] TROUPE_EXPORT utf8_character first_character(std::string_view text) noexcept;

/// Whether `text` consists of whole characters only. Overlong forms and surrogates are refused. An empty text is UTF-8.
[[nodiscard]] TROUPE_EXPORT bool is_utf8(std::string_view text) noexcept;

inline constexpr std::size_t utf8_bytes_max = 4; // Of one character.

/// Writes the character and returns the position behind it. Requires: `code` is a code point and not a surrogate, and
/// `to` has room for it (`utf8_bytes_max` always suffices).
[[nodiscard]] TROUPE_EXPORT char* write_utf8(char32_t code, char* to) noexcept;

} // namespace troupe
