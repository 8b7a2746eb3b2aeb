// Decides whether it pays to look repeatedly for a moment before sleeping. Pure: no clock, no threads.
#pragma once

#include <algorithm>
#include <cstdint>

namespace troupe::internal {

/// A sleeping thread has to be woken, which costs both ends more than a short message. A thread that looks in vain
/// keeps a core from others. So each look in vain doubles the number of waits without a look, up to a bound, and each
/// successful look halves it. If less than half of the looks succeed, few are made.
class spinning {
public:
  static constexpr std::uint32_t left_out_max = 1024;

  /// Asked before each wait. If true, call `found` or `missed` afterwards.
  [[nodiscard]] bool is_worth() noexcept {
    if (to_leave_out_ == 0)
      return true;
    --to_leave_out_;
    return false;
  }
  void found() noexcept {
    left_out_ /= 2;
    to_leave_out_ = left_out_;
  }
  void missed() noexcept {
    left_out_ = std::min(std::max(2 * left_out_, 1u), left_out_max);
    to_leave_out_ = left_out_;
  }

private:
  std::uint32_t left_out_ = 0; // Since the last look in vain.
  std::uint32_t to_leave_out_ = 0;
};

} // namespace troupe::internal
