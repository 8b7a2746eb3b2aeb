// Rebuilds derived data from the truth, and compares the two.
#pragma once

#include <troupe/store/internal/table/table_held.hpp>

#include <expected>
#include <string>

namespace troupe::store::internal {

/// Rebuilds free extents, chains, counts, totals and hints from the tables: after the death of the lock's owner, and
/// once for a new store. Idempotent. Fails with the first contradiction in the truth itself. Other processes may clear
/// bits and seal objects meanwhile.
[[nodiscard]] std::expected<void, std::string> recover(table_held held);

/// Fails with the first contradiction between truth and derived data. Changes nothing.
[[nodiscard]] std::expected<void, std::string> verify(table_held held);

} // namespace troupe::store::internal
