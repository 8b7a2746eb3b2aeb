// Summaries of a store.
#pragma once

#include <troupe/store/internal/attachment/opened_store.hpp>
#include <troupe/store/store_error.hpp>
#include <troupe/store/summary.hpp>

#include <expected>
#include <string>

namespace troupe::store::internal {

/// Collects totals and rows, in batches under the lock.
[[nodiscard]] std::expected<store_summary, store_error> collect_summary(control_view view, const opened_store& store,
                                                                        const summary_query& what);
/// Like collect_summary(), without the rows.
[[nodiscard]] std::expected<store_summary, store_error> collect_totals(control_view view, const opened_store& store);

/// Summarizes a store that no process has open. Requires: no process can attach meanwhile.
[[nodiscard]] store_summary collect_summary_of_left(const mapped_store& files, const std::string& name);

} // namespace troupe::store::internal
