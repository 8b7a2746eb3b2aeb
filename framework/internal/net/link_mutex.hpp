// The lock of one link, and the proof that it is held.
#pragma once

#include <mutex>

namespace troupe::internal {

class link_held;

/// Guards the tables of one link and its connection's waiting bytes, so that both change together.
///
/// While it is held, a thread may only take locks that are held briefly. These include the lock of the node's exchange
/// and then that of the store's table. It drops no actor reference, handle or frame, and calls nothing of CAF or of the
/// store that could block.
class link_mutex {
public:
  /// Blocks until the lock is free.
  [[nodiscard]] link_held lock();

private:
  std::mutex mutex_;
};

/// Proves that the calling thread holds a link's lock. The destructor releases it.
///
/// Functions that need the lock take `const link_held&`. Functions that release it or wait under it take `link_held&`.
class link_held {
public:
  link_held(const link_held&) = delete;
  link_held& operator=(const link_held&) = delete;

  /// Proves nothing from here until lock().
  void unlock() { lock_.unlock(); }
  void lock() { lock_.lock(); }
  [[nodiscard]] bool is_held() const noexcept { return lock_.owns_lock(); }

  /// For condition variables, which release the lock while they wait.
  [[nodiscard]] std::unique_lock<std::mutex>& for_waiting() noexcept { return lock_; }

private:
  friend class link_mutex; // The only source of proofs.
  explicit link_held(std::mutex& mutex) : lock_(mutex) {}

  std::unique_lock<std::mutex> lock_;
};

inline link_held link_mutex::lock() {
  return link_held{mutex_};
}

} // namespace troupe::internal
