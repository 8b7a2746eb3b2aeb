// How long a call may take.
#pragma once

#include <chrono>

namespace troupe::cluster_directories {

class call_deadline {
public:
  using clock = std::chrono::steady_clock;

  explicit call_deadline(std::chrono::milliseconds timeout) : timeout_(timeout), at_(clock::now() + timeout) {}

  [[nodiscard]] bool has_passed() const { return clock::now() >= at_; }
  [[nodiscard]] clock::time_point when() const noexcept { return at_; }
  /// The whole time, for texts.
  [[nodiscard]] std::chrono::milliseconds timeout() const noexcept { return timeout_; }

private:
  std::chrono::milliseconds timeout_;
  clock::time_point at_;
};

} // namespace troupe::cluster_directories
