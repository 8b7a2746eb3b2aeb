// Limits the number of repeated lines that peers can cause. Pure: the clock is passed in.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace troupe::internal {

/// Allows a number of lines per second. Further lines are counted, and one line reports them when the second is over. A
/// second begins with its first line.
class line_limit {
public:
  using clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds period{1};

  explicit line_limit(std::size_t lines_max) : lines_max_(lines_max) {}

  /// Whether one more line may be written. If not, the line is counted, and `settle` is due at `ends`.
  [[nodiscard]] bool admit(clock::time_point now);

  /// Returns the number of lines counted and not written. The next line begins a new second.
  [[nodiscard]] std::uint64_t settle();

  [[nodiscard]] std::uint64_t left_out() const noexcept { return left_out_; }
  [[nodiscard]] clock::time_point ends() const noexcept { return ends_; }

private:
  const std::size_t lines_max_;
  clock::time_point ends_ = clock::time_point::min();
  std::size_t lines_ = 0;      // Written in this second.
  std::uint64_t left_out_ = 0; // While not zero, the second lasts until `settle`, however late.
};

} // namespace troupe::internal
