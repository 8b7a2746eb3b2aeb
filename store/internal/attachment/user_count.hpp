// The users of an attachment.
#pragma once

#include <atomic>
#include <cstdint>

namespace troupe::store::internal {

/// Counts the users of an attachment: references to it, and objects that this process holds. The creator is the first
/// user.
class user_count {
public:
  void add() noexcept { users_.fetch_add(1, std::memory_order_relaxed); }
  /// Adds a user unless there are none left. Returns whether it did.
  [[nodiscard]] bool try_add() noexcept {
    auto users = users_.load(std::memory_order_relaxed);
    while (users > 0 && !users_.compare_exchange_weak(users, users + 1, std::memory_order_relaxed)) {
    }
    return users > 0;
  }
  /// Returns whether that was the last user.
  [[nodiscard]] bool remove() noexcept { return users_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

private:
  std::atomic<std::uint64_t> users_{1};
};

} // namespace troupe::store::internal
