#include <algorithm>
#include <utility>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/flow/heartbeat.hpp>
#include <troupe/framework/internal/words/failing.hpp>

namespace troupe::internal {

void heartbeat::begin(const signs_of_life& seen, clock::time_point now) noexcept {
  bytes_read_ = seen.bytes_read;
  slices_taken_ = seen.slices_taken;
  heard_at_ = now;
}

std::expected<bool, node_error> heartbeat::beat(const signs_of_life& seen, clock::time_point now) {
  if (seen.bytes_read != std::exchange(bytes_read_, seen.bytes_read))
    heard_at_ = now;
  // On a slow network a pong arrives only after the peer has read everything written before its ping. A peer that reads
  // is alive.
  if (seen.slices_taken != std::exchange(slices_taken_, seen.slices_taken))
    heard_at_ = now;
  const auto silent = now - heard_at_;
  const auto text = [](clock::duration time) {
    return grouped(static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(time).count()))
           + " ms";
  };
  if (seen.stalled >= timeout_)
    return fail(node_errc::link_down, "the peer has read nothing for " + text(std::max(silent, seen.stalled))
                                          + ", limit " + text(timeout_) + " (heartbeat_timeout)");
  if (silent >= timeout_)
    return fail(node_errc::link_down,
                "the peer has been silent for " + text(silent) + ", limit " + text(timeout_) + " (heartbeat_timeout)");
  return silent >= interval_;
}

std::chrono::milliseconds heartbeat::pause() const noexcept {
  return std::max(std::min(interval_, timeout_ / 3), std::chrono::milliseconds{10});
}

} // namespace troupe::internal
