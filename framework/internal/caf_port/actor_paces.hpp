// How long actors take on the I/O thread. Pure: no clock, no threads of its own.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace troupe::internal {

/// Decides how many messages an actor may handle in a row on the I/O thread, or that it is too slow to run there. An
/// unknown actor begins with a few. The number doubles if twice as many would still make a short turn, and shrinks if a
/// turn takes too long. If an actor takes too long for a single message twice in a row, it is left to CAF's scheduler
/// once, and after each further slow attempt twice as often. The first slow turn is forgiven, because on a busy machine
/// any turn may be slow when the thread has lost its core.
///
/// The memory is a table of fixed size, in which actors displace each other. Displaced actors are measured again.
///
/// Threads: any. If two threads write at once, one of their measurements may be lost.
class actor_paces {
public:
  static constexpr std::uint32_t messages_max = 100;   // In a row.
  static constexpr std::uint32_t messages_unknown = 4; // For an actor that is not known.
  static constexpr std::uint32_t left_out_max = 4096;  // How often a slow actor is left to the scheduler, at most.
  static constexpr std::chrono::microseconds long_turn{100};

  /// The actor has work. Returns how many of its messages the I/O thread may handle. 0: the scheduler's threads run the
  /// actor this time.
  [[nodiscard]] std::uint32_t admit(const void* actor) noexcept;

  /// Like admit(), for an admitted actor that goes on.
  [[nodiscard]] std::uint32_t messages(const void* actor) const noexcept;

  /// Notes that a turn of at most `messages` took `time`. `all` says whether the turn had that many.
  void took(const void* actor, std::uint32_t messages, bool all, std::chrono::nanoseconds time) noexcept;

private:
  /// An entry, packed into one word so that no reader sees half of it.
  struct pace {
    std::uint32_t tag = 0;          // Of the actor's hash; 0: empty.
    std::uint32_t messages = 0;     // 7 bits
    std::uint32_t left_out = 0;     // Doublings plus one; 0: not left out. 4 bits
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
