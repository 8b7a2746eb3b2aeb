// Looks for dead processes from within a living one.
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

/// The interval at which this process looks for dead processes in the background; 0: never.
[[nodiscard]] std::chrono::nanoseconds looking_interval(const options& settings);

/// Cleans up after dead processes, ended channels and released objects.
///
/// Threads: any.
class reaper {
public:
  reaper(const opened_store& store, membership& member, ended_channels& ended, spill_file_removal& files,
         change_signal& changes)
      : store_(store), view_(store.files.view), member_(member), ended_(ended), files_(files), changes_(changes) {}

  /// Returns the number of dead processes.
  std::expected<std::size_t, store_error> reap();

  /// Reaps unless a waiter has done so within the last `look_pause`, because a look costs a system call for each
  /// process of the store, and each change wakes all waiters.
  [[nodiscard]] std::expected<void, store_error> reap_while_waiting();

  /// Reaps in the background, unless another process has looked within the interval or the holder does not release the
  /// lock.
  void reap_unasked();

  /// Frees hinted rows.
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
