// Cleaning up after dead processes.
#pragma once

#include <troupe/store/internal/files/lock_file.hpp>
#include <troupe/store/internal/table/control_view.hpp>
#include <troupe/store/internal/table/object_table.hpp>
#include <troupe/store/internal/table/table_lock.hpp>

#include <algorithm>
#include <chrono>

namespace troupe::store::internal {

/// Clears the columns of all slots whose process is gone (holder bits, unfinished objects and handles in flight to
/// these processes), then frees the slots. Makes one pass for all slots, in batches, so that no process waits long for
/// the lock. Skips `self`. Returns the number of slots freed. If the caller is killed meanwhile, the next call repeats
/// the work. Fails as lock_table() does, at the first failure.
[[nodiscard]] std::expected<std::size_t, store_error> reap_dead(control_view view, const lock_file& lock,
                                                                std::uint32_t self, std::chrono::milliseconds timeout);

/// Reclaims until no hints are left, in batches. `self` is the caller's slot. Fails as lock_table() does.
[[nodiscard]] std::expected<void, store_error> reclaim_all(control_view view, std::uint32_t self,
                                                           std::chrono::milliseconds timeout);

/// Drops all entries in flight for which `matches(entry)` is true, in batches. Fails as lock_table() does, possibly
/// half-way.
template <class Matches>
std::expected<void, store_error> drop_flights(control_view view, std::uint32_t self, std::chrono::milliseconds timeout,
                                              Matches matches) {
  constexpr auto batch = std::uint32_t{4096};
  for (auto first = std::uint32_t{0};; first += batch) {
    let_others_go_first(view);
    const auto guard = lock_table(view, self, timeout);
    if (!guard)
      return std::unexpected(guard.error());
    const auto used = view.header().flights.used;
    if (first >= used)
      return {};
    for (auto at = first; at < std::min(first + batch, used); ++at)
      if (view.flight(at).count.load() != 0 && matches(view.flight(at)))
        object_table(*guard).drop_flight(at);
  }
}

} // namespace troupe::store::internal
