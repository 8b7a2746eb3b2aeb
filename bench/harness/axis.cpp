#include "harness/axis.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

namespace bench {

namespace {

/// Tolerance for quotients that should be whole numbers but for rounding.
constexpr double slack = 1e-9;

/// Values beyond these magnitudes are no measurements, and would make computations with them infinite.
constexpr double magnitude_max = 1e300;
constexpr double magnitude_min = 1e-300;

bool can_show(double value, axis_scale scale) {
  return std::abs(value) <= magnitude_max && (scale == axis_scale::linear || value >= magnitude_min);
}

double base_of(axis_numbers numbers) {
  return numbers == axis_numbers::bytes ? 2 : 10;
}

double exponent_of(double value, axis_numbers numbers) {
  return numbers == axis_numbers::bytes ? std::log2(value) : std::log10(value);
}

/// The least number of the form 1, 2 or 5 times a power of ten that is at least `value`. Requires: value > 0.
double round_step(double value) {
  const auto power = std::pow(10, std::floor(std::log10(value) + slack));
  for (const auto digit : {1.0, 2.0, 5.0})
    if (value <= digit * power * (1 + slack))
      return digit * power;
  return 10 * power;
}

std::string with_prefix(double value, double base, std::span<const std::string_view> prefixes) {
  std::size_t at = 0;
  // A value that rounds up to the base with three digits gets the next prefix.
  while (at + 1 < prefixes.size() && std::abs(value) >= base * (1 - 0.0005)) {
    value /= base;
    ++at;
  }
  const auto digits = std::abs(value) >= 1000 ? 4 : 3;
  return fmt::format("{:.{}g}{}", value, digits, prefixes[at]);
}

} // namespace

fitted_axis::fitted_axis(const axis& what, std::span<const double> values) : what_(what) {
  std::vector<double> shown;
  std::ranges::copy_if(values, std::back_inserter(shown), [&](double value) { return can_show(value, what.scale); });
  if (shown.empty())
    shown.push_back(1);
  const auto [least, greatest] = std::ranges::minmax(shown);
  if (is_logarithmic())
    fit_logarithmic(least, greatest);
  else
    fit_linear(least, greatest);
}

/// Fits the ends to whole powers of the base. With base 10 and at most three powers, fits them to 2 or 5 times a power
/// if that leaves less space empty.
void fitted_axis::fit_logarithmic(double least, double greatest) {
  auto low = std::floor(exponent_of(least, what_.numbers) + slack);
  auto high = std::ceil(exponent_of(greatest, what_.numbers) - slack);
  if (low == high)
    ++high;
  const auto base = base_of(what_.numbers);
  low_ = std::pow(base, low);
  high_ = std::pow(base, high);
  if (base != 10 || high - low > 3)
    return;
  for (const auto digit : {2.0, 5.0})
    if (digit * low_ <= least * (1 + slack) && digit * low_ < high_ / 2)
      low_ = digit * std::pow(base, low);
  for (const auto digit : {5.0, 2.0})
    if (digit * std::pow(base, high - 1) >= greatest * (1 - slack) && digit * std::pow(base, high - 1) > low_ * 1.5)
      high_ = digit * std::pow(base, high - 1);
}

void fitted_axis::fit_linear(double least, double greatest) {
  low_ = std::min(least, 0.0);
  high_ = std::max(greatest, 0.0);
  if (high_ - low_ < magnitude_min)
    high_ = 1;
  constexpr double steps = 8;
  const auto step = round_step((high_ - low_) / steps);
  low_ = step * std::floor(low_ / step + slack);
  high_ = step * std::ceil(high_ / step - slack);
}

std::optional<double> fitted_axis::position(double value) const {
  if (!can_show(value, what_.scale))
    return std::nullopt;
  if (!is_logarithmic())
    return (value - low_) / (high_ - low_);
  return (std::log2(value) - std::log2(low_)) / (std::log2(high_) - std::log2(low_));
}

std::vector<tick> fitted_axis::ticks(std::size_t count_max) const {
  std::vector<tick> made;
  for (const auto value : is_logarithmic() ? logarithmic_ticks(count_max) : linear_ticks(count_max))
    made.push_back({value, text_of(value, what_.numbers)});
  return made;
}

std::vector<double> fitted_axis::logarithmic_ticks(std::size_t count_max) const {
  const auto base = base_of(what_.numbers);
  const auto low = std::ceil(exponent_of(low_, what_.numbers) - slack);
  const auto high = std::floor(exponent_of(high_, what_.numbers) + slack);
  std::vector<double> made;
  if (base == 10 && (high - low + 2) * 3 <= static_cast<double>(count_max)) {
    for (auto exponent = low - 1; exponent <= high; ++exponent)
      for (const auto digit : {1.0, 2.0, 5.0})
        if (const auto value = digit * std::pow(base, exponent);
            value >= low_ * (1 - slack) && value <= high_ * (1 + slack))
          made.push_back(value);
    return made;
  }
  const auto step = std::max(1.0, std::ceil((high - low) / (static_cast<double>(count_max) - 1)));
  for (auto exponent = low; exponent <= high; exponent += step)
    made.push_back(std::pow(base, exponent));
  return made;
}

std::vector<double> fitted_axis::linear_ticks(std::size_t count_max) const {
  const auto intervals = static_cast<double>(count_max) - 1;
  auto step = round_step((high_ - low_) / intervals);
  // If the axis does not begin at a tick, there may be one tick too many.
  if (std::floor(high_ / step + slack) - std::ceil(low_ / step - slack) > intervals)
    step = round_step(step * 1.5);
  std::vector<double> made;
  for (auto at = std::ceil(low_ / step - slack); at <= std::floor(high_ / step + slack); ++at)
    made.push_back(at == 0 ? 0 : at * step); // Not -0.
  return made;
}

std::string fitted_axis::text_of(double value, axis_numbers numbers) {
  static constexpr std::array<std::string_view, 6> decimal{"", " k", " M", " G", " T", " P"};
  static constexpr std::array<std::string_view, 6> binary{" B", " KiB", " MiB", " GiB", " TiB", " PiB"};
  static constexpr std::array<std::string_view, 4> seconds{" ns", " us", " ms", " s"};
  switch (numbers) {
  case axis_numbers::bytes:
    return with_prefix(value, 1024, binary);
  case axis_numbers::seconds:
    return value == 0 ? "0 s" : with_prefix(value * 1e9, 1000, seconds);
  case axis_numbers::plain:
    break;
  }
  return with_prefix(value, 1000, decimal);
}

} // namespace bench
