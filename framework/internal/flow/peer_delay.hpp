// How long a message takes to the peer. Pure: the caller has the clock.
#pragma once

#include <atomic>
#include <chrono>

namespace troupe::internal {

/// Half of the shortest round trip that was measured.
///
/// Threads: any for now(), the I/O thread for the rest.
class peer_delay {
public:
  using clock = std::chrono::steady_clock;

  /// Whether to ask the peer for a sign of life, in order to measure: at first, and each time that the last answer came
  /// and `interval` has passed. One answer may have waited behind others, so the shortest of many counts.
  [[nodiscard]] bool is_due(clock::time_point now, clock::duration interval) const noexcept {
    return !was_asked_ || (!waits_ && now - asked_at_ >= interval);
  }
  /// The peer is asked for a sign of life. A question that is still unanswered is not measured again.
  void ask(clock::time_point at) noexcept {
    was_asked_ = true;
    if (!waits_)
      asked_at_ = at;
    waits_ = true;
  }
  /// An answer has come. Unsolicited ones are ignored.
  void answer(clock::time_point at) noexcept {
    if (!waits_)
      return;
    waits_ = false;
    const auto half = (at - asked_at_) / 2;
    if (!is_known_ || half < now())
      half_.store(half.count(), std::memory_order_relaxed);
    is_known_ = true;
  }

  /// Zero until an answer has come.
  [[nodiscard]] clock::duration now() const noexcept { return clock::duration{half_.load(std::memory_order_relaxed)}; }

private:
  std::atomic<clock::duration::rep> half_{0};
  clock::time_point asked_at_;
  bool waits_ = false;
  bool was_asked_ = false;
  bool is_known_ = false;
};

} // namespace troupe::internal
