// Large messages of one link that wait to be encoded by another thread than their sender's, and whatever has to stay
// behind them.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include <caf/actor_control_block.hpp>
#include <caf/mailbox_element.hpp>

#include <troupe/base/salted_hash.hpp>

namespace troupe::internal {

/// Messages to one receiver keep their order. Pure: wakes nobody and encodes nothing.
///
/// Threads: any, at once; one at a time takes messages out.
class encoding_lane {
public:
  struct waiting {
    std::uint64_t receiver = 0;
    caf::mailbox_element_ptr what;
    std::uint64_t size_bytes = 0;
    bool is_answer = false;
    const void* sender = nullptr;           // Who it is from, as has() is asked.
    caf::strong_actor_ptr proxy = nullptr;  // The receiver's, so that the peer is not told that nobody refers to it.
    std::vector<std::byte> extensions = {}; // Of a message that came over another link; most have none.
  };
  enum class entry : std::uint8_t {
    passed,  ///< It need not wait; nothing was taken.
    full,    ///< It would have to wait and has no room; nothing was taken.
    waits,   ///< It was taken.
    wakes,   ///< It was taken, and somebody has to come for it.
    refused, ///< The lane ends; nothing was taken.
  };

  /// Takes a message that is large, or that others to the same receiver are ahead of. The bound is one for answers, and
  /// one for all others; a message that finds half of it free may exceed it.
  [[nodiscard]] entry add(waiting& message, bool is_large, std::uint64_t bytes_max);

  /// The next one, whose place stays taken until done().
  [[nodiscard]] std::optional<waiting> next();
  /// The last one that next() gave has been sent, or will not be. True when there are more: then somebody comes again.
  [[nodiscard]] bool done(std::uint64_t receiver, std::uint64_t size_bytes, bool is_answer);

  /// Quick.
  [[nodiscard]] bool is_idle() const noexcept { return idle_.load(std::memory_order_acquire); }
  [[nodiscard]] bool has(std::uint64_t receiver) const;
  /// Whether one of that sender's is among them.
  [[nodiscard]] bool has(std::uint64_t receiver, const void* sender) const;
  [[nodiscard]] std::uint64_t bytes() const;

  /// Takes no more messages, and calls `then` once it is idle, now or in done().
  void end(std::function<void()> then);
  /// Whether the next message that is no answer finds room, however large it is.
  [[nodiscard]] bool has_room(std::uint64_t bytes_max) const;
  /// Takes out the oldest to that receiver that is no answer and not in work.
  [[nodiscard]] std::optional<waiting> drop_oldest(std::uint64_t receiver);
  /// What still waits; it does not count any more.
  [[nodiscard]] std::vector<waiting> take_all();

private:
  void become_idle(std::unique_lock<std::mutex>& guard);

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::deque<waiting> queue_;
  std::unordered_map<std::uint64_t, std::uint64_t, detail::salted_hash> ahead_; // How many, by receiver; the one in work included.
  std::pair<std::uint64_t, const void*> in_work_{};        // Receiver and sender of the one in work.
  std::array<std::uint64_t, 2> bytes_{};                   // Of answers the second.
  bool ends_ = false;
  std::function<void()> then_;
  std::atomic<bool> idle_{true};
};

} // namespace troupe::internal
