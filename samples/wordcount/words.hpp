// Defines a word: a maximal run of the bytes [A-Za-z0-9_].
#pragma once

#include <array>
#include <string_view>

namespace wordcount {

namespace detail {

constexpr std::array<bool, 256> make_word_bytes() {
  std::array<bool, 256> result{};
  for (const unsigned char byte : std::string_view{"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"})
    result[byte] = true;
  return result;
}

inline constexpr auto word_bytes = make_word_bytes();

} // namespace detail

[[nodiscard]] constexpr bool is_word_byte(char byte) {
  return detail::word_bytes[static_cast<unsigned char>(byte)];
}

/// Calls `use(std::string_view)` for each word of the text, in order. The text's beginning and end delimit words.
template <class Use>
void for_each_word(std::string_view text, Use use) {
  const auto* at = text.data();
  const auto* const end = at + text.size();
  for (;;) {
    while (at != end && !is_word_byte(*at))
      ++at;
    if (at == end)
      return;
    const auto* const begin = at;
    do
      ++at;
    while (at != end && is_word_byte(*at));
    use(std::string_view{begin, at});
  }
}

} // namespace wordcount
