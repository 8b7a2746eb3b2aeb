// Whether a message on a connection goes alone, or waits a moment for others. Pure: no clock, no threads.
#pragma once

#include <chrono>
#include <cstdint>

namespace troupe::internal {

/// A write costs as much as tens of small messages, and so does waking the peer. So a message goes alone after a pause
/// only: a long one, or a short one in which the peer has sent something, since whoever waits for answers sends no
/// more until it has them. A stream with short pauses is one all the same: who sends to many peers in turn would else
/// pay for a write for each message, come to each peer more seldom for it, and so never stop.
class write_pause {
public:
  using time_point = std::chrono::steady_clock::time_point;

  /// An answer takes longer than this, the next message of a stream does not.
  static constexpr std::chrono::microseconds before_next_question{5};

  /// As long as a message waits for others at most.
  static constexpr std::chrono::microseconds long_enough{50};

  [[nodiscard]] bool is_over(time_point now, std::uint64_t bytes_read) const noexcept {
    const auto passed = now - written_at_;
    return passed >= long_enough || (passed >= before_next_question && bytes_read != bytes_read_);
  }

  /// All that there was has been written.
  void begin(time_point now, std::uint64_t bytes_read) noexcept {
    written_at_ = now;
    bytes_read_ = bytes_read;
  }

private:
  time_point written_at_{};
  std::uint64_t bytes_read_ = 0; // From the peer, until then.
};

} // namespace troupe::internal
