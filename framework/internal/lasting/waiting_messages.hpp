// The messages of a lasting handle that wait for their actor.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include <troupe/framework/internal/caf_port/messages.hpp>

namespace troupe::internal {

/// Holds messages in the order in which they came, up to a number of bytes.
///
/// Threads: one at a time.
class waiting_messages {
public:
  using clock = std::chrono::steady_clock;

  struct entry {
    caf::mailbox_element_ptr message;
    clock::time_point since;
    std::uint64_t bytes = 0;
    std::uint64_t number = 0; // Of a request that may be repeated, in repeated_requests; 0: none.
  };

  explicit waiting_messages(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}

  /// Returns true if the bound leaves room. If nothing waits, one message may exceed the bound.
  [[nodiscard]] bool has_room(std::uint64_t bytes) const noexcept {
    return entries_.empty() || (bytes <= bytes_max_ && bytes_ <= bytes_max_ - bytes);
  }
  void add(entry what);
  /// Adds a request in front of later requests. It counts as no younger than these.
  void add_again(entry what);
  /// Puts back, in front of all others, a message that was taken.
  void put_back(entry taken);

  /// Takes the first message. Requires: not empty().
  [[nodiscard]] entry take_first();
  [[nodiscard]] std::deque<entry> take_all();
  /// Takes the messages that came before `then`.
  [[nodiscard]] std::deque<entry> take_older_than(clock::time_point then);

  /// When the oldest message came; nullopt if none waits.
  [[nodiscard]] std::optional<clock::time_point> oldest() const;
  [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
  [[nodiscard]] std::size_t count() const noexcept { return entries_.size(); }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::uint64_t bytes_max() const noexcept { return bytes_max_; }

private:
  const std::uint64_t bytes_max_;
  std::deque<entry> entries_;
  std::uint64_t bytes_ = 0; // The sum over entries_.
};

} // namespace troupe::internal
