#include "counts.hpp"

#include "words.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace wordcount {

namespace {

constexpr std::size_t piece_bytes = 1 << 20;

/// The sort keys of a word, side by side in memory. Most comparisons need nothing else.
struct ranked_word {
  std::uint64_t count;
  /// The word's first eight bytes, padded with zeros, as a number that compares as the bytes do.
  std::uint64_t begin;
  const counted_word* entry;

  explicit ranked_word(const counted_word& from) : count(from.count), begin(0), entry(&from) {
    for (std::size_t i = 0; i < sizeof begin; ++i)
      begin = begin << 8 | (i < from.word().size() ? static_cast<unsigned char>(from.text[i]) : 0u);
  }

  friend bool operator<(const ranked_word& left, const ranked_word& right) {
    if (left.count != right.count)
      return left.count > right.count;
    return left.begin != right.begin ? left.begin < right.begin : left.entry->word() < right.entry->word();
  }
};

/// Whether the sizes are positive and add up to the text's size.
bool fit(std::span<const std::uint64_t> sizes, std::size_t text_bytes) {
  for (const auto size : sizes) {
    if (size == 0 || size > text_bytes)
      return false;
    text_bytes -= size;
  }
  return text_bytes == 0;
}

} // namespace

block_counts count_words(std::uint64_t block, std::string_view text, word_table& table) {
  table.clear();
  for_each_word(text, [&table](std::string_view word) { ++table.find_or_add(word).count; });

  std::size_t text_bytes = 0;
  for (const auto& entry : table.words())
    text_bytes += entry.word().size();
  std::vector<char> words;
  std::vector<std::uint64_t> sizes;
  std::vector<std::uint64_t> counts;
  words.reserve(text_bytes);
  sizes.reserve(table.words().size());
  counts.reserve(table.words().size());
  for (const auto& entry : table.words()) {
    words.insert(words.end(), entry.word().begin(), entry.word().end());
    sizes.push_back(entry.word().size());
    counts.push_back(entry.count);
  }
  return {block, troupe::array{std::move(words)}, troupe::array{std::move(sizes)}, troupe::array{std::move(counts)}};
}

std::expected<void, std::string> word_totals::add(const block_counts& answer) {
  if (answer.sizes.size() != answer.counts.size() || !fit(answer.sizes.span(), answer.text.size()))
    return std::unexpected{"an answer with " + std::to_string(answer.sizes.size()) + " words, "
                           + std::to_string(answer.counts.size()) + " counts and " + std::to_string(answer.text.size())
                           + " bytes of text does not fit together"};
  const auto* text = answer.text.data();
  for (std::size_t i = 0; i < answer.sizes.size(); ++i) {
    const std::string_view word{text, static_cast<std::size_t>(answer.sizes[i])};
    auto& entry = table_.find_or_add(word);
    if (entry.count == 0)
      entry.text = keep(word);
    entry.count += answer.counts[i];
    words_ += answer.counts[i];
    text += word.size();
  }
  return {};
}

std::vector<const counted_word*> word_totals::most_frequent(std::size_t count) const {
  std::vector<ranked_word> ranking(distinct().begin(), distinct().end());
  const auto end = ranking.begin() + static_cast<std::ptrdiff_t>(std::min(count, ranking.size()));
  if (end == ranking.end())
    std::sort(ranking.begin(), ranking.end());
  else
    std::partial_sort(ranking.begin(), end, ranking.end());
  std::vector<const counted_word*> result;
  std::transform(ranking.begin(), end, std::back_inserter(result),
                 [](const ranked_word& ranked) { return ranked.entry; });
  return result;
}

const char* word_totals::keep(std::string_view text) {
  if (text.size() > free_.size()) {
    const auto size = std::max(text.size(), piece_bytes);
    pieces_.push_back(std::make_unique_for_overwrite<char[]>(size));
    free_ = {pieces_.back().get(), size};
  }
  auto* const kept = free_.data();
  std::ranges::copy(text, kept);
  free_ = free_.subspan(text.size());
  return kept;
}

} // namespace wordcount
