// Channels on which nobody sends any more.
#pragma once

#include <troupe/store/internal/table/control_view.hpp>
#include <troupe/store/object_id.hpp>
#include <troupe/store/store_error.hpp>

#include <chrono>
#include <cstdint>
#include <expected>
#include <mutex>
#include <set>
#include <utility>

namespace troupe::store::internal {

/// Drops what is in flight on channels that have ended.
///
/// A peer that has not noticed yet that a channel has ended may still send on it, and then die: so what is dropped once
/// is dropped again by every reaping, until the peer is gone.
///
/// Threads: any.
class ended_channels {
public:
  ended_channels(control_view view, const process_id& self, std::chrono::milliseconds lock_timeout)
      : view_(view), self_(self), lock_timeout_(lock_timeout) {}

  /// That channel with `peer` has ended, in both directions.
  [[nodiscard]] std::expected<void, store_error> end(const process_id& peer, std::uint64_t channel);

  /// What has been sent since on any of them.
  [[nodiscard]] std::expected<void, store_error> drop_late();

private:
  control_view view_;
  const process_id self_;
  const std::chrono::milliseconds lock_timeout_;
  std::mutex mutex_;
  std::set<std::pair<process_id, std::uint64_t>> ended_; // Guarded by mutex_.
};

} // namespace troupe::store::internal
