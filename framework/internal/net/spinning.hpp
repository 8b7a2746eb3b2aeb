// Whether it pays to look again and again for a moment before sleeping. Pure: no clock, no threads.
#pragma once

#include <algorithm>
#include <cstdint>

namespace troupe::internal {

/// A thread that sleeps has to be woken, which costs both ends more than a short message does; one that looks in vain
/// keeps a core from others. So after each vain look twice as many waits go without one, up to a bound, and half as many
/// after each that finds something: where less than half of them do, few are made.
class spinning {
public:
  static constexpr std::uint32_t left_out_max = 1024;

  /// Asked before each wait; `found` or `missed` must follow where the answer is yes.
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
  std::uint32_t left_out_ = 0; // After the last vain look.
  std::uint32_t to_leave_out_ = 0;
};

} // namespace troupe::internal
