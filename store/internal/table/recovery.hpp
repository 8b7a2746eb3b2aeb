// Rebuilds what is derived from what is true, and checks the one against the other.
#pragma once

#include <troupe/store/internal/table/table_held.hpp>

#include <expected>
#include <string>

namespace troupe::store::internal {

/// Rebuilds free extents, chains, counts, totals and hints from the tables. After the death of the lock's owner, and
/// once for a new store. Idempotent. Fails with the contradiction that it found in the truth itself. Others
/// may clear bits and seal meanwhile.
[[nodiscard]] std::expected<void, std::string> recover(table_held held);

/// Fails with the first contradiction between truth and what is derived. Changes nothing.
[[nodiscard]] std::expected<void, std::string> verify(table_held held);

} // namespace troupe::store::internal
