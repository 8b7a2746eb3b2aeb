// Decides whether a peer is alive. Pure: the caller has the clock and the counters.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>

#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// What a connection knows about its peer's activity.
struct signs_of_life {
  std::uint64_t bytes_read = 0;                  // From the peer, in all.
  std::uint64_t slices_taken = 0;                // Writes that had to wait for the peer to read, in all.
  std::chrono::steady_clock::duration stalled{}; // For how long bytes have waited for a peer that takes none.
};

/// Detects a dead peer.
class heartbeat {
public:
  using clock = std::chrono::steady_clock;

  /// A peer that is silent for `interval` is asked whether it is alive. A peer that is silent, or takes no bytes, for
  /// `timeout` is given up.
  heartbeat(std::chrono::milliseconds interval, std::chrono::milliseconds timeout) noexcept
      : interval_(interval), timeout_(timeout) {}

  void begin(const signs_of_life& seen, clock::time_point now) noexcept;

  /// Returns whether the peer should be sent a ping. Fails with `link_down` if the peer is given up.
  [[nodiscard]] std::expected<bool, node_error> beat(const signs_of_life& seen, clock::time_point now);

  /// The interval at which to call beat().
  [[nodiscard]] std::chrono::milliseconds pause() const noexcept;

private:
  const std::chrono::milliseconds interval_;
  const std::chrono::milliseconds timeout_;
  std::uint64_t bytes_read_ = 0;
  std::uint64_t slices_taken_ = 0;
  clock::time_point heard_at_;
};

} // namespace troupe::internal
