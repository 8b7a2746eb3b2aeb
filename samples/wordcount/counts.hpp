// From one block's words to an answer that travels, and from all answers to the sum.
#pragma once

#include "word_table.hpp"

#include <troupe/serializers/array.hpp>
#include <troupe/serializers/describe.hpp>

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace wordcount {

/// A worker's answer: the block's distinct words and how often each stands in it. Three arrays and not a map, because
/// arrays leave and arrive as they lie in memory, large ones through the store.
struct block_counts {
  std::uint64_t block = 0;             // Which one, as the coordinator numbers them.
  troupe::array<char> text;            // The words, one right after the other.
  troupe::array<std::uint64_t> sizes;  // How many bytes of the text each word has.
  troupe::array<std::uint64_t> counts; // How often each stands in the block.
};
TROUPE_DESCRIBE(block_counts, block, text, sizes, counts)

/// Counts the words of `text`. `table` is what it counts in; its memory serves from block to block.
[[nodiscard]] block_counts count_words(std::uint64_t block, std::string_view text, word_table& table);

/// The sum of many blocks' counts; has copies of the words.
class word_totals {
public:
  /// Adds a whole answer or, when its arrays do not fit together, nothing: then it fails with a text.
  [[nodiscard]] std::expected<void, std::string> add(const block_counts& answer);

  [[nodiscard]] std::span<const counted_word> distinct() const { return table_.words(); }
  [[nodiscard]] std::uint64_t words() const { return words_; }

  /// The `count` most frequent words in descending order, ties in byte order.
  [[nodiscard]] std::vector<const counted_word*> most_frequent(std::size_t count) const;

private:
  [[nodiscard]] const char* keep(std::string_view text);

  word_table table_;
  std::uint64_t words_ = 0;
  // The words' text: pieces that are filled front to back and never move.
  std::vector<std::unique_ptr<char[]>> pieces_;
  std::span<char> free_; // What is left of the last piece.
};

} // namespace wordcount
