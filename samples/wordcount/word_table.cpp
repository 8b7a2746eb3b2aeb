#include "word_table.hpp"

#include <algorithm>
#include <utility>

namespace wordcount {

namespace {

constexpr std::size_t first_slots = 1 << 12;

} // namespace

void word_table::clear() {
  if (slots_.empty())
    slots_.resize(first_slots);
  else
    std::ranges::fill(slots_, slot{});
  words_.clear();
}

void word_table::grow() {
  std::vector<slot> old(slots_.size() * 2);
  std::swap(old, slots_);
  const auto last = slots_.size() - 1;
  for (const auto& moved : old) {
    if (moved.number == 0)
      continue;
    const auto& word = words_[moved.number - 1];
    auto at = hash_of(word.mark, word.text) & last;
    while (slots_[at].number != 0)
      at = (at + 1) & last;
    slots_[at] = moved;
  }
}

} // namespace wordcount
