// A pause between two holds of a lock.
#pragma once

#include <chrono>
#include <thread>

namespace troupe::internal {

/// Pauses between two holds of one lock, so that waiting threads can take it. A std::mutex is not fair: a waiting
/// thread has to wake up first, and a caller that locks again at once is faster. Without the pause, many short holds
/// would block the other threads almost as long as one long hold.
inline void leave_lock_to_others() {
  std::this_thread::sleep_for(std::chrono::microseconds(50));
}

} // namespace troupe::internal
