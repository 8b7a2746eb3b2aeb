// Hints at rows that may have lost their last holder. They are given without the lock and taken under it.
//
// A hint may be wrong, because the taker inspects the row, but no hint may get lost. Therefore the giver sets leaf,
// middle, top, any, in this order. The taker clears any, top, middle, leaf and then inspects the row. A giver that is
// killed in between leaves a row without a hint; the reaping of the giver scans all rows.
#pragma once

#include <troupe/store/internal/table/layout.hpp>

#include <bit>

namespace troupe::store::internal {

inline void give_hint(hint_words& hints, std::uint32_t index) {
  auto set = [](auto& words, std::uint32_t at) {
    const auto bit = std::uint64_t{1} << at % 64;
    if ((words[at / 64].load() & bit) == 0)
      words[at / 64].fetch_or(bit);
  };
  set(hints.leaf, index);
  set(hints.middle, index / 64);
  set(hints.top, index / 64 / 64);
  hints.any.store(1);
}

[[nodiscard]] inline bool any_hint(const hint_words& hints) {
  return hints.any.load() != 0; // Not relaxed: the holder of the lock checks for hints after it has released the lock.
}

/// Calls `visit(index)` for about `rows_max` hinted rows at most and clears their hints. Returns whether hints are
/// left.
template <class Visit>
bool take_hints(hint_words& hints, std::uint32_t rows_max, Visit visit) {
  auto rows = std::uint32_t{0};
  hints.any.store(0);
  for (auto top = std::uint32_t{0}; top < hints.top.size(); ++top) {
    while (const auto tops = hints.top[top].load()) {
      const auto middle = top * 64 + static_cast<std::uint32_t>(std::countr_zero(tops));
      hints.top[top].fetch_and(~(tops & (~tops + 1)));
      while (const auto middles = hints.middle[middle].load()) {
        if (rows >= rows_max) {
          hints.top[top].fetch_or(tops & (~tops + 1));
          hints.any.store(1);
          return true;
        }
        const auto leaf = middle * 64 + static_cast<std::uint32_t>(std::countr_zero(middles));
        hints.middle[middle].fetch_and(~(middles & (~middles + 1)));
        for (auto leaves = hints.leaf[leaf].exchange(0); leaves != 0; leaves &= leaves - 1, ++rows)
          visit(leaf * 64 + static_cast<std::uint32_t>(std::countr_zero(leaves)));
      }
    }
  }
  return any_hint(hints); // A visit may have given a hint in a word already passed.
}

} // namespace troupe::store::internal
