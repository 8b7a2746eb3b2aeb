// Limits on waiting.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace troupe::processes {

/// The longest time to wait; nullopt: no limit.
using time_limit = std::optional<std::chrono::milliseconds>;

/// The time `patience` after construction; never reached without a limit.
class deadline {
public:
  explicit deadline(time_limit patience) {
    if (patience)
      at_ = std::chrono::steady_clock::now() + *patience;
  }

  [[nodiscard]] bool has_passed() const { return at_ && std::chrono::steady_clock::now() >= *at_; }

  /// The remaining time as poll() takes it: in milliseconds, or -1 if there is no limit.
  [[nodiscard]] int left_for_poll() const {
    if (!at_)
      return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*at_ - std::chrono::steady_clock::now()).count();
    return static_cast<int>(std::clamp<std::chrono::milliseconds::rep>(left, 0, 1 << 30));
  }

private:
  std::optional<std::chrono::steady_clock::time_point> at_;
};

} // namespace troupe::processes
