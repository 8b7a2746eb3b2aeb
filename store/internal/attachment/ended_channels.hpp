// Channels that have ended.
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

/// Drops the handles in flight on ended channels.
///
/// A peer that does not know yet that a channel has ended may still send on it and then die. Therefore every reaping
/// drops the channel's handles again, until the peer is gone.
///
/// Threads: any.
class ended_channels {
public:
  ended_channels(control_view view, const process_id& self, std::chrono::milliseconds lock_timeout)
      : view_(view), self_(self), lock_timeout_(lock_timeout) {}

  /// Ends the channel with `peer`, in both directions.
  [[nodiscard]] std::expected<void, store_error> end(const process_id& peer, std::uint64_t channel);

  /// Drops the handles that were sent meanwhile on any ended channel.
  [[nodiscard]] std::expected<void, store_error> drop_late();

private:
  control_view view_;
  const process_id self_;
  const std::chrono::milliseconds lock_timeout_;
  std::mutex mutex_;
  std::set<std::pair<process_id, std::uint64_t>> ended_; // Guarded by mutex_.
};

} // namespace troupe::store::internal
