// Counts one block's words into a message, and sums up such messages.
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

/// A worker's answer: the block's distinct words and how often each occurs. It has three arrays instead of a map,
/// because arrays are sent and received in their memory layout, and large ones through the store.
struct block_counts {
  std::uint64_t block = 0;             // The block's number, given by the coordinator.
  troupe::array<char> text;            // The words, one directly after the other.
  troupe::array<std::uint64_t> sizes;  // Bytes of each word.
  troupe::array<std::uint64_t> counts; // Occurrences of each word in the block.
};
TROUPE_DESCRIBE(block_counts, block, text, sizes, counts)

/// Counts the words of `text`. `table` is cleared first; its memory is reused from block to block.
[[nodiscard]] block_counts count_words(std::uint64_t block, std::string_view text, word_table& table);

/// The sum of many blocks' counts. Keeps its own copies of the words.
class word_totals {
public:
  /// Adds a whole answer. If its arrays do not fit together, adds nothing and fails with a text.
  [[nodiscard]] std::expected<void, std::string> add(const block_counts& answer);

  [[nodiscard]] std::span<const counted_word> distinct() const { return table_.words(); }
  [[nodiscard]] std::uint64_t words() const { return words_; }

  /// The `count` most frequent words in descending order, ties in byte order.
  [[nodiscard]] std::vector<const counted_word*> most_frequent(std::size_t count) const;

private:
  [[nodiscard]] const char* keep(std::string_view text);

  word_table table_;
  std::uint64_t words_ = 0;
  // The words' text, in pieces that are filled front to back and never move.
  std::vector<std::unique_ptr<char[]>> pieces_;
  std::span<char> free_; // The rest of the last piece.
};

} // namespace wordcount
