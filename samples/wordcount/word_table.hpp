// Words and their counts: the hash table with which the coordinator and the workers count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace wordcount {

/// Identifies a short word: its length and two loads that cover all of its bytes, overlapping if necessary. Words of up
/// to 16 bytes are equal exactly if their marks are equal. Nearly all words are that short, so the text itself is
/// seldom compared.
struct word_mark {
  static constexpr std::size_t covered_bytes = 16;

  std::uint64_t front = 0;
  std::uint64_t back = 0;
  std::uint64_t size_bytes = 0;

  static word_mark of(std::string_view word) {
    const auto* const text = word.data();
    const auto size = word.size();
    if (size >= 8)
      return {load<std::uint64_t>(text), load<std::uint64_t>(text + size - 8), size};
    if (size >= 4)
      return {load<std::uint32_t>(text), load<std::uint32_t>(text + size - 4), size};
    // 1 to 3 bytes: the first, the middle, the last.
    const auto byte = [text](std::size_t index) {
      return static_cast<std::uint64_t>(static_cast<unsigned char>(text[index]));
    };
    return {byte(0) | byte(size / 2) << 8 | byte(size - 1) << 16, 0, size};
  }

  friend bool operator==(const word_mark&, const word_mark&) = default;

private:
  template <class Number>
  static std::uint64_t load(const char* from) {
    Number value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
};

/// A word and its count.
struct counted_word {
  word_mark mark;
  const char* text = nullptr;
  std::uint64_t count = 0;

  [[nodiscard]] std::string_view word() const { return {text, mark.size_bytes}; }
};

/// Open addressing with linear probing. Small slots (a part of the hash, a number) refer to a dense list of words in
/// the order of their first occurrence. Refers to the words' text, which must outlive the table.
class word_table {
public:
  word_table() { clear(); }

  /// The entry of a word. A new entry has the count 0 and refers to `word`'s own bytes; the caller may set `text` to a
  /// copy. The reference is valid until the next call. Requires: `word` is not empty.
  [[nodiscard]] counted_word& find_or_add(std::string_view word);

  /// In the order of their first occurrence.
  [[nodiscard]] std::span<const counted_word> words() const { return words_; }

  /// Removes all words and keeps the memory.
  void clear();

private:
  struct slot {
    std::uint32_t hash = 0;
    std::uint32_t number = 0; // Index in words_ plus 1, or 0 if free.
  };

  [[nodiscard]] static std::uint64_t hash_of(const word_mark& mark, const char* text);
  [[nodiscard]] static bool same(const counted_word& known, const word_mark& mark, const char* text);
  void grow();

  std::vector<slot> slots_; // Their number is a power of two; at most half are in use.
  std::vector<counted_word> words_;
};

inline counted_word& word_table::find_or_add(std::string_view word) {
  const auto mark = word_mark::of(word);
  const auto hash = hash_of(mark, word.data());
  const auto last = slots_.size() - 1;
  for (auto at = hash & last;; at = (at + 1) & last) {
    auto& found = slots_[at];
    if (found.number == 0) {
      found = {static_cast<std::uint32_t>(hash >> 32), static_cast<std::uint32_t>(words_.size() + 1)};
      words_.push_back({mark, word.data(), 0});
      if (words_.size() * 2 > slots_.size())
        grow();
      return words_.back();
    }
    if (found.hash == hash >> 32 && same(words_[found.number - 1], mark, word.data()))
      return words_[found.number - 1];
  }
}

inline std::uint64_t word_table::hash_of(const word_mark& mark, const char* text) {
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;
  const auto mix = [](std::uint64_t hash, std::uint64_t more) {
    hash = (hash ^ more) * odd;
    return hash ^ hash >> 32;
  };
  auto hash = mix(mix(mark.size_bytes, mark.front), mark.back);
  for (std::size_t at = 8; at + 8 < mark.size_bytes; at += 8) // The bytes that the mark does not cover.
    hash = mix(hash, word_mark::of({text + at, 8}).front);
  return hash * odd;
}

inline bool word_table::same(const counted_word& known, const word_mark& mark, const char* text) {
  return known.mark == mark
         && (mark.size_bytes <= word_mark::covered_bytes || std::memcmp(known.text, text, mark.size_bytes) == 0);
}

} // namespace wordcount
