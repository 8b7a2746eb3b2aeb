// Rebuilds what is derived from what is true, and checks the one against the other.
#pragma once

#include <troupe/store/internal/table/control_view.hpp>

#include <expected>
#include <string>

namespace troupe::store::internal {

/// Rebuilds free extents, chains, counts, totals and hints from the tables. After the death of the lock's owner, and
/// once for a new store. Idempotent. Fails with the contradiction that it found in the truth itself. Requires: the
/// table's lock is held. Others may clear bits and seal meanwhile.
[[nodiscard]] std::expected<void, std::string> recover(control_view view);

/// Fails with the first contradiction between truth and what is derived. Changes nothing. Requires: the lock is held.
[[nodiscard]] std::expected<void, std::string> verify(control_view view);

} // namespace troupe::store::internal
