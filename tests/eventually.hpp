// Waits for the effects of other threads and processes.
#pragma once

#include <chrono>
#include <thread>

namespace troupe::tests {

/// Waits for a condition. Returns false if it is still false after `limit`.
template <class Condition>
[[nodiscard]] bool eventually(Condition&& condition, std::chrono::milliseconds limit = std::chrono::seconds{10}) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline)
      return false;
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  return true;
}

} // namespace troupe::tests
