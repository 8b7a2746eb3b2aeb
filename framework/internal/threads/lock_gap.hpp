// A pause between two holds of a lock.
#pragma once

#include <chrono>
#include <thread>

namespace troupe::internal {

/// Lets threads that wait for a lock have it, which the caller has released and is about to take again. A std::mutex
/// goes to whoever asks first, and a thread that was woken needs some time until it asks. So without this pause, a long
/// walk in short holds keeps others out for almost as long as one hold would.
inline void leave_lock_to_others() {
  std::this_thread::sleep_for(std::chrono::microseconds(50));
}

} // namespace troupe::internal
