// Whether a peer is alive. Pure: the caller has the clock and the figures.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>

#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// What a connection shows of its peer's life.
struct signs_of_life {
  std::uint64_t bytes_read = 0;                  // From the peer, in all.
  std::uint64_t slices_taken = 0;                // Of what had to wait for the peer to read, in all.
  std::chrono::steady_clock::duration stalled{}; // For so long bytes have waited for a peer that takes none.
};

/// Notices a peer that is gone.
class heartbeat {
public:
  using clock = std::chrono::steady_clock;

  /// A peer that is silent for `interval` is asked, and given up where it is for `timeout`, or takes nothing for so
  /// long.
  heartbeat(std::chrono::milliseconds interval, std::chrono::milliseconds timeout) noexcept
      : interval_(interval), timeout_(timeout) {}

  void begin(const signs_of_life& seen, clock::time_point now) noexcept;

  /// Whether the peer is to be asked for a sign. Fails with `link_down` for one that is gone.
  [[nodiscard]] std::expected<bool, node_error> beat(const signs_of_life& seen, clock::time_point now);

  /// How often beat() wants to be called.
  [[nodiscard]] std::chrono::milliseconds pause() const noexcept;

private:
  const std::chrono::milliseconds interval_;
  const std::chrono::milliseconds timeout_;
  std::uint64_t bytes_read_ = 0;
  std::uint64_t slices_taken_ = 0;
  clock::time_point heard_at_;
};

} // namespace troupe::internal
