// Axes of plots: their ends, their ticks and the ticks' texts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace bench {

enum class axis_scale : std::uint8_t { linear, logarithmic };

/// How numbers on an axis are written, and the base of its logarithm.
enum class axis_numbers : std::uint8_t {
  plain,   ///< 1, 10, 1 k, 1 M; base 10.
  bytes,   ///< 8 B, 1 KiB, 1 MiB; base 2.
  seconds, ///< 10 ns, 1 us, 1 ms; base 10.
};

struct axis {
  std::string label; // With its unit, such as "messages a second".
  axis_scale scale = axis_scale::linear;
  axis_numbers numbers = axis_numbers::plain;
};

struct tick {
  double value = 0;
  std::string text;
};

/// An axis with fixed ends. Values lie on it at positions 0 to 1.
class fitted_axis {
public:
  /// Contains all of `values` that can be shown, and reaches from one round number to another. A linear axis begins at
  /// 0 unless a value is negative. Without values, it reaches from 0 (linear) or 1 (logarithmic) to the next round
  /// number.
  fitted_axis(const axis& what, std::span<const double> values);

  /// The value's position, or nullopt if the axis cannot show the value: it is not finite (its magnitude exceeds
  /// 1e300), or the axis is logarithmic and the value is not above 0 (below 1e-300).
  [[nodiscard]] std::optional<double> position(double value) const;

  /// At least two and at most `count_max` ticks, in ascending order. Requires: `count_max` is 2 or more.
  [[nodiscard]] std::vector<tick> ticks(std::size_t count_max) const;

  /// `value` as the axis writes it: "1.5 M", "64 KiB", "20 us".
  [[nodiscard]] static std::string text_of(double value, axis_numbers numbers);

private:
  [[nodiscard]] bool is_logarithmic() const { return what_.scale == axis_scale::logarithmic; }
  void fit_logarithmic(double least, double greatest);
  void fit_linear(double least, double greatest);
  [[nodiscard]] std::vector<double> logarithmic_ticks(std::size_t count_max) const;
  [[nodiscard]] std::vector<double> linear_ticks(std::size_t count_max) const;

  axis what_;
  double low_ = 0;
  double high_ = 1;
};

} // namespace bench
