// The lock of one link, and the proof that it is held.
#pragma once

#include <mutex>

namespace troupe::internal {

class link_held;

/// Guards the tables of one link and what its connection has waiting, so that both change together.
///
/// Under it only locks are taken that are held for moments, of the node's exchange and then of the store's table among
/// them; no actor reference, handle or frame is dropped, and nothing of CAF or of the store is called that could wait.
class link_mutex {
public:
  /// Blocks until the lock is free.
  [[nodiscard]] link_held lock();

private:
  std::mutex mutex_;
};

/// Proves that the calling thread holds a link's lock; lets go of it at the end.
///
/// What needs the lock takes `const link_held&`; what waits for something under it, or lets go of it, takes `link_held&`.
class link_held {
public:
  link_held(const link_held&) = delete;
  link_held& operator=(const link_held&) = delete;

  /// From here on this proves nothing, until lock().
  void unlock() { lock_.unlock(); }
  void lock() { lock_.lock(); }
  [[nodiscard]] bool is_held() const noexcept { return lock_.owns_lock(); }

  /// For condition variables, which let go of it while they wait.
  [[nodiscard]] std::unique_lock<std::mutex>& for_waiting() noexcept { return lock_; }

private:
  friend class link_mutex; // Nobody else makes proofs.
  explicit link_held(std::mutex& mutex) : lock_(mutex) {}

  std::unique_lock<std::mutex> lock_;
};

inline link_held link_mutex::lock() {
  return link_held{mutex_};
}

} // namespace troupe::internal
