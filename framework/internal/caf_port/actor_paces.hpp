// How long actors take, as far as the I/O thread has run them. Pure: no clock, no threads of its own.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace troupe::internal {

/// Says how many messages an actor may handle in a row on the I/O thread, or that it is too slow to be run there. An
/// actor that is not known begins with a few; they are doubled where twice as many would still be a short turn, and cut
/// down where a turn takes too long. One that takes too long for a single message twice in a row is left to CAF's
/// scheduler once, and after each further attempt that takes too long twice as many times. Not after the first: on a
/// busy machine any turn may take long because the thread has lost its core.
///
/// The memory is a table of fixed size, in which actors displace each other: what is forgotten is measured again.
///
/// Threads: any. Two threads that write at once may lose one of both measurements.
class actor_paces {
public:
  static constexpr std::uint32_t messages_max = 100;   // In a row.
  static constexpr std::uint32_t messages_unknown = 4; // Of an actor that is not known.
  static constexpr std::uint32_t left_out_max = 4096;  // Times that a slow actor is left to the scheduler.
  static constexpr std::chrono::microseconds long_turn{100};

  /// The actor has something to do: how many messages of it the I/O thread may handle. 0: the scheduler's threads run
  /// it this time.
  [[nodiscard]] std::uint32_t admit(const void* actor) noexcept;

  /// The same for an actor that was admitted, and goes on.
  [[nodiscard]] std::uint32_t messages(const void* actor) const noexcept;

  /// A turn of at most `messages` has taken so long; `all` says whether there were as many.
  void took(const void* actor, std::uint32_t messages, bool all, std::chrono::nanoseconds time) noexcept;

private:
  /// An entry as it is kept, in one word, so that no reader sees half of it.
  struct pace {
    std::uint32_t tag = 0;          // Of the actor; 0: empty.
    std::uint32_t messages = 0;     // 7 bits
    std::uint32_t left_out = 0;     // In doublings, plus one; 0: none. 4 bits
    std::uint32_t to_leave_out = 0; // 13 bits
    std::uint32_t is_suspect = 0;   // The last turn took too long. 1 bit
  };
  [[nodiscard]] static pace unpack(std::uint64_t word) noexcept;
  [[nodiscard]] static std::uint64_t pack(const pace& what) noexcept;
  [[nodiscard]] static std::uint64_t hash_of(const void* actor) noexcept;
  [[nodiscard]] std::atomic<std::uint64_t>& place_of(std::uint64_t hash) noexcept;
  [[nodiscard]] pace find(const void* actor) const noexcept;

  std::array<std::atomic<std::uint64_t>, 1024> table_{};
};

} // namespace troupe::internal
