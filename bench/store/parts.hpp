// The cases one by one: of the store, and of what bounds it. Both give quantities of the same names.
#pragma once

#include "harness/rounds.hpp"
#include "store/options.hpp"

#include <expected>

namespace bench {

using case_result = std::expected<observations, failure>;

/// Bytes into a new object whose place was used before, and between two buffers that were used before.
[[nodiscard]] case_result put_large(const store_options& told);
[[nodiscard]] case_result copy_large(const store_options& told);

/// Bytes into pages that nobody has used before, and once they were made ready in the background.
[[nodiscard]] case_result put_cold(const store_options& told);

/// 1 KiB; the limit is twice a robust lock and the copy.
[[nodiscard]] case_result put_small(const store_options& told);
[[nodiscard]] case_result lock_and_copy_small(const store_options& told);

/// Find, pin and release; the limit is a robust lock and four atomic operations.
[[nodiscard]] case_result find_small(const store_options& told);
[[nodiscard]] case_result lock_small(const store_options& told);

/// What two processes put at once, over what one does.
[[nodiscard]] case_result put_by_two(const store_options& told);

/// Until another process has a view of an object that was put before.
[[nodiscard]] case_result view_elsewhere(const store_options& told);

/// To disk and back; the limit writes the same bytes to a file one after the other, and reads them again.
[[nodiscard]] case_result spill_and_restore(const store_options& told);
[[nodiscard]] case_result write_and_read_file(const store_options& told);

/// Until the next call is through after a process has died inside the lock, and how long others wait while all that a
/// dead one held is cleared.
[[nodiscard]] case_result recover_and_reap(const store_options& told);

} // namespace bench
