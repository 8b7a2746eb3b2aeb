// The single cases: of the store, and of its limits. Both return quantities of the same names.
#pragma once

#include "harness/rounds.hpp"
#include "store/options.hpp"

#include <expected>

namespace bench {

using case_result = std::expected<observations, failure>;

/// Copies bytes into a new object in memory that was used before; the limit copies between two buffers that were used
/// before.
[[nodiscard]] case_result put_large(const store_options& told);
[[nodiscard]] case_result copy_large(const store_options& told);

/// Puts bytes into pages that were never used before, and into pages that were pretouched in the background.
[[nodiscard]] case_result put_cold(const store_options& told);

/// Puts 1 KiB. The limit takes a robust lock twice and copies.
[[nodiscard]] case_result put_small(const store_options& told);
[[nodiscard]] case_result lock_and_copy_small(const store_options& told);

/// Finds, pins and releases. The limit takes a robust lock and makes four atomic operations.
[[nodiscard]] case_result find_small(const store_options& told);
[[nodiscard]] case_result lock_small(const store_options& told);

/// The rate of two processes that put at once, over the rate of one.
[[nodiscard]] case_result put_by_two(const store_options& told);

/// The time until another process has a view of an object that was put before.
[[nodiscard]] case_result view_elsewhere(const store_options& told);

/// Spills to disk and restores. The limit writes the same bytes sequentially to a file, and reads them again.
[[nodiscard]] case_result spill_and_restore(const store_options& told);
[[nodiscard]] case_result write_and_read_file(const store_options& told);

/// The time until the next call returns after a process has died inside the lock, and how long others wait while
/// everything that a dead process held is cleared.
[[nodiscard]] case_result recover_and_reap(const store_options& told);

} // namespace bench
