// Axes of plots: what they reach from and to, where their ticks stand, and what is written there.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace bench {

enum class axis_scale : std::uint8_t { linear, logarithmic };

/// How numbers on an axis are written, and of which base its logarithm is.
enum class axis_numbers : std::uint8_t {
  plain,   ///< 1, 10, 1 k, 1 M; base 10.
  bytes,   ///< 8 B, 1 KiB, 1 MiB; base 2.
  seconds, ///< 10 ns, 1 us, 1 ms; base 10.
};

struct axis {
  std::string label; // With its unit, as in "messages a second".
  axis_scale scale = axis_scale::linear;
  axis_numbers numbers = axis_numbers::plain;
};

struct tick {
  double value = 0;
  std::string text;
};

/// An axis whose ends are fixed. Values lie on it at 0 to 1.
class fitted_axis {
public:
  /// Holds all of `values` that can be shown, and reaches from one round number to another. A linear axis begins at 0
  /// unless something is less. Without values it reaches from 0 or 1 to the next round number.
  fitted_axis(const axis& what, std::span<const double> values);

  /// Nothing where the axis cannot show the value: not finite (nor within 1e300), or not above 0 (1e-300) where it is
  /// logarithmic.
  [[nodiscard]] std::optional<double> position(double value) const;

  /// In ascending order, at most `count_max` of them and at least two. Requires: count_max is 2 or more.
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
