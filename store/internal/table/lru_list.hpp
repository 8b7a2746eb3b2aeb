// The objects in memory, least recently used first. Derived.
//
// Finding and sealing an object changes the order at once. A pin takes no lock and only marks its object; a search for
// room gives marked objects a second chance.
#pragma once

#include <troupe/store/internal/table/table_held.hpp>

namespace troupe::store::internal {

/// Orders the objects in memory by their last use.
class lru_list {
public:
  explicit lru_list(table_held held) : view_(held.view()) {}

  void clear() const {
    auto& header = view_.header();
    header.lru_first = header.lru_last = no_row;
  }

  /// Appends an object that was used just now. Requires: the object is not in the list.
  void add(std::uint32_t index) const {
    stamp(view_.object(index));
    append(index);
  }

  /// Appends an object without changing the time of its last use. Requires: the object is not in the list.
  void append(std::uint32_t index) const {
    auto& header = view_.header();
    auto& row = view_.object(index);
    row.lru_before = header.lru_last;
    row.lru_after = no_row;
    (header.lru_last == no_row ? header.lru_first : view_.object(header.lru_last).lru_after) = index;
    header.lru_last = index;
  }

  /// Requires: the object is in the list.
  void remove(std::uint32_t index) const {
    auto& header = view_.header();
    const auto& row = view_.object(index);
    (row.lru_before == no_row ? header.lru_first : view_.object(row.lru_before).lru_after) = row.lru_after;
    (row.lru_after == no_row ? header.lru_last : view_.object(row.lru_after).lru_before) = row.lru_before;
  }

  /// Moves an object that was used just now to the end. Requires: the object is in the list.
  void touch(std::uint32_t index) const {
    if (view_.header().lru_last == index)
      return stamp(view_.object(index));
    remove(index);
    add(index);
  }

  /// Like touch(), but does nothing for an object that is not in memory.
  void touch_if_in_memory(std::uint32_t index) const;

private:
  void stamp(object_row_entry& row) const {
    auto& uses = view_.header().uses;
    const auto use = uses.load(std::memory_order_relaxed) + 1;
    uses.store(use, std::memory_order_relaxed);
    row.last_used.store(use, std::memory_order_relaxed);
  }

  control_view view_;
};

/// Whether an object in that state has an extent in the data file and so is in the list.
[[nodiscard]] inline bool lies_in_memory(const object_row_entry& row, object_state state) {
  return state != object_state::free && state != object_state::spilled && row.place == 0;
}
[[nodiscard]] inline bool lies_in_memory(const object_row_entry& row) {
  return lies_in_memory(row, row.state.load());
}

inline void lru_list::touch_if_in_memory(std::uint32_t index) const {
  if (lies_in_memory(view_.object(index)))
    touch(index);
}

/// Whether the copy on disk is the only valid one.
[[nodiscard]] constexpr bool is_spilled(object_state state) {
  return state == object_state::spilled || state == object_state::restoring;
}

/// Requires: the row is not free.
[[nodiscard]] inline bool has_copy_on_disk(const object_row_entry& row) {
  return row.spill_file.load(std::memory_order_relaxed) != no_row;
}

} // namespace troupe::store::internal
