// Looking for the dead from within a living process.
#pragma once

#include <troupe/store/internal/attachment/change_signal.hpp>
#include <troupe/store/internal/attachment/ended_channels.hpp>
#include <troupe/store/internal/attachment/membership.hpp>
#include <troupe/store/internal/attachment/opened_store.hpp>
#include <troupe/store/internal/attachment/spill_file_removal.hpp>
#include <troupe/store/store_error.hpp>

#include <chrono>
#include <cstddef>
#include <expected>

namespace troupe::store::internal {

/// How often this process looks for the dead unasked; 0: never.
[[nodiscard]] std::chrono::nanoseconds looking_interval(const options& settings);

/// Clears up whatever others have left behind.
///
/// Threads: any.
class reaper {
public:
  reaper(const opened_store& store, membership& member, ended_channels& ended, spill_file_removal& files,
         change_signal& changes)
      : store_(store), view_(store.files.view), member_(member), ended_(ended), files_(files), changes_(changes) {}

  /// Gives how many dead processes there were.
  std::expected<std::size_t, store_error> reap();

  /// One of all that wait looks for the dead, once in a while: that costs a call of the system for each process of the
  /// store, and each change wakes all.
  [[nodiscard]] std::expected<void, store_error> reap_while_waiting();

  /// Unless another process has done so lately, or who has the lock does not give it back: nobody waits for this.
  void reap_unasked();

  /// Frees what was hinted at.
  void reclaim();

private:
  const opened_store& store_;
  control_view view_;
  membership& member_;
  ended_channels& ended_;
  spill_file_removal& files_;
  change_signal& changes_;
};

} // namespace troupe::store::internal
