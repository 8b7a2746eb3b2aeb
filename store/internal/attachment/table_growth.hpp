// Rows for a store's tables.
#pragma once

#include <troupe/store/internal/attachment/reaper.hpp>
#include <troupe/store/internal/table/object_table.hpp>
#include <troupe/store/store_error.hpp>

#include <expected>

namespace troupe::store::internal {

/// Adds rows to full tables.
///
/// Threads: any.
class table_growth {
public:
  table_growth(const mapped_store& files, reaper& reaper) : files_(files), reaper_(reaper) {}

  /// Adds rows to the table that `need`, one of the outcomes need_..., names. If growing fails the first time, reaps
  /// dead processes instead, which may free rows. If the table is still full afterwards, call again with the same
  /// `failures`. Fails with `table_full`, or as commit_pages() does. Requires: this thread does not hold the table's
  /// lock.
  [[nodiscard]] std::expected<void, store_error> grow_or_reap(outcome need, int& failures);

private:
  [[nodiscard]] std::expected<void, store_error> grow(outcome need);

  const mapped_store& files_;
  reaper& reaper_;
};

} // namespace troupe::store::internal
