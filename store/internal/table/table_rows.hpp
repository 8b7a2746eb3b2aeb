// Taking and returning rows of growing tables.
#pragma once

#include <troupe/store/internal/table/layout.hpp>

#include <cassert>

namespace troupe::store::internal {

[[nodiscard]] inline bool has_room(const growing_table& table, std::size_t rows) {
  return table.free_rows + (table.committed.load() - table.used) >= rows;
}

/// Takes a free row; `next_of(row)` is its successor in the chain of free rows. Requires: has_room(table, 1).
template <class NextOf>
[[nodiscard]] std::uint32_t take_free(growing_table& table, NextOf next_of) {
  if (table.first_free == no_row) {
    assert(table.used < table.committed.load());
    return table.used++;
  }
  const auto row = table.first_free;
  table.first_free = next_of(row);
  --table.free_rows;
  return row;
}

inline void return_free(growing_table& table, std::uint32_t row, std::uint32_t& next) {
  next = table.first_free;
  table.first_free = row;
  ++table.free_rows;
}

/// Length of the object's extent.
[[nodiscard]] inline std::uint64_t length_of(const object_row_entry& row) {
  return extent_length(row.size_bytes.load(std::memory_order_relaxed), row.metadata_bytes);
}

} // namespace troupe::store::internal
