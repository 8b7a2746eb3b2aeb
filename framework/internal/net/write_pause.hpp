// Decides whether a message on a connection is written alone or waits a moment for others. Pure: no clock, no threads.
#pragma once

#include <chrono>
#include <cstdint>

namespace troupe::internal {

/// A write costs as much as tens of small messages, and so does waking the peer. So a message is written alone only
/// after a pause. The pause is a long one, or a short one in which the peer has sent something, because a sender that
/// waits for answers sends nothing else before they arrive. A stream with short pauses still counts as a stream.
/// Otherwise a sender to many peers in turn would pay for a write per message, reach each peer less often, and so never
/// stop writing alone.
class write_pause {
public:
  using time_point = std::chrono::steady_clock::time_point;

  /// An answer takes longer than this. The next message of a stream does not.
  static constexpr std::chrono::microseconds before_next_question{5};

  /// The longest time that a message waits for others.
  static constexpr std::chrono::microseconds long_enough{50};

  [[nodiscard]] bool is_over(time_point now, std::uint64_t bytes_read) const noexcept {
    const auto passed = now - written_at_;
    return passed >= long_enough || (passed >= before_next_question && bytes_read != bytes_read_);
  }

  /// Everything has been written.
  void begin(time_point now, std::uint64_t bytes_read) noexcept {
    written_at_ = now;
    bytes_read_ = bytes_read;
  }

private:
  time_point written_at_{};
  std::uint64_t bytes_read_ = 0; // Bytes read from the peer at that time.
};

} // namespace troupe::internal
