// Unfinished moves between memory and disk.
#pragma once

#include <troupe/store/internal/attachment/background.hpp>
#include <troupe/store/internal/attachment/change_signal.hpp>
#include <troupe/store/internal/attachment/spill_file_removal.hpp>
#include <troupe/store/internal/attachment/table_access.hpp>

#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

namespace troupe::store::internal {

/// Gives up moves whose end could not be recorded because the lock could not be acquired.
///
/// Threads: any.
class half_done_moves {
public:
  half_done_moves(const table_access& access, background& unasked, spill_file_removal& files, change_signal& changes)
      : access_(access), unasked_(unasked), files_(files), changes_(changes) {}

  /// Keeps objects that were being spilled to `file` or, if `file` is no_row, restored. Their moves are given up in the
  /// background once the lock is available again.
  void keep(std::uint32_t file, std::span<const std::uint32_t> objects);

  /// Returns the kept objects to their states before the move. Returns false if the lock is busy and moves remain.
  bool give_up();

private:
  struct move {
    std::uint32_t file;
    std::vector<std::uint32_t> objects;
  };
  static void give_up(table_held held, const move& what);

  const table_access& access_;
  background& unasked_;
  spill_file_removal& files_;
  change_signal& changes_;
  std::mutex mutex_;
  std::vector<move> moves_; // Guarded by mutex_.
};

} // namespace troupe::store::internal
