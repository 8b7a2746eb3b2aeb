// UTF-8, read and written in one place.
#pragma once

#include <cstddef>
#include <string_view>

#include <troupe/base/export.hpp>

namespace troupe {

/// What the text of somebody else's begins with.
struct utf8_character {
  std::size_t bytes = 0; ///< 0 where it is no whole character of UTF-8.
  char32_t code = 0;
};

/// The character at the front. Requires: not empty.
[[nodiscard]] TROUPE_EXPORT utf8_character first_character(std::string_view text) noexcept;

/// Whether the text is nothing but whole characters: neither longer spellings than needed nor surrogates. Eight bytes
/// of ASCII are one step.
[[nodiscard]] TROUPE_EXPORT bool is_utf8(std::string_view text) noexcept;

inline constexpr std::size_t utf8_bytes_max = 4; // Of one character.

/// Writes the character and gives the place behind it. Requires: a code point that is no surrogate, and room for it.
[[nodiscard]] TROUPE_EXPORT char* write_utf8(char32_t code, char* to) noexcept;

} // namespace troupe
