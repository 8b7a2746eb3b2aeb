// Moves between memory and disk that could not be ended.
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

/// Gives up moves whose end could not be noted since the lock was not to be had.
///
/// Threads: any.
class half_done_moves {
public:
  half_done_moves(const table_access& access, background& unasked, spill_file_removal& files, change_signal& changes)
      : access_(access), unasked_(unasked), files_(files), changes_(changes) {}

  /// Those objects are half-way into that file, or, where it is no_row, half-way back from theirs. They are given up as
  /// soon as who is stopped in the lock goes on.
  void keep(std::uint32_t file, std::span<const std::uint32_t> objects);

  /// Makes what is half-way what it was before. Gives whether nothing is half-way any more.
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
