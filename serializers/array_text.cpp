#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/core.h>

#include <troupe/base/sizes.hpp>
#include <troupe/serializers/array.hpp>

namespace troupe::detail {

namespace {

// numpy's default print options.
constexpr std::size_t line_width = 75;
constexpr std::size_t summarized_from = 1'001;
constexpr int precision = 8;
// The largest number of numbers that are shown, plus their dimensions. numpy has no such limit, but here shapes come
// from peers.
constexpr std::size_t shown_max = 128 << 10;

/// The number of positions that are shown at each end of a dimension, in arrays that are not shown as a whole.
struct shown_edges {
  std::size_t front;
  std::size_t back;
};

/// Three positions at each end, as in numpy, or fewer to stay below shown_max.
shown_edges edges_for(std::span<const std::size_t> shape) {
  for (const auto& edges : {shown_edges{3, 3}, {2, 2}, {1, 1}}) {
    std::size_t shown = shape.size() + 8;
    for (const auto length : shape)
      if (shown <= shown_max)
        shown *= std::min(length, edges.front + edges.back);
    if (shown <= shown_max)
      return edges;
  }
  return {1, 0};
}

/// The text of a number, split at the decimal point, by which numbers are aligned.
struct split_text {
  std::string before; // In front of the point.
  std::string after;  // Behind the point, without trailing zeros.
};

split_text split(const std::string& digits) {
  const auto point = digits.find('.');
  auto after = point == std::string::npos ? std::string() : digits.substr(point + 1);
  after.erase(after.find_last_not_of('0') + 1);
  return {digits.substr(0, point), std::move(after)};
}

/// The number with as few digits behind the point as are needed to read back the same number, at most eight.
template <class Real>
split_text positional(Real value) {
  auto shortest = fmt::format("{:.{}f}", value, precision);
  for (int digits = 0; digits < precision; ++digits)
    if (auto text = fmt::format("{:.{}f}", value, digits);
        static_cast<Real>(std::strtod(text.c_str(), nullptr)) == value) {
      shortest = std::move(text);
      break;
    }
  return split(shortest);
}

struct scientific_text {
  split_text digits;
  std::string exponent; // "e-05"
};

template <class Real>
scientific_text scientific(Real value) {
  auto text = fmt::format("{:.{}e}", value, precision);
  for (int digits = 0; digits < precision; ++digits)
    if (auto shorter = fmt::format("{:.{}e}", value, digits);
        static_cast<Real>(std::strtod(shorter.c_str(), nullptr)) == value) {
      text = std::move(shorter);
      break;
    }
  const auto at = text.find('e');
  return {split(text.substr(0, at)), text.substr(at)};
}

/// The format in columns that all numbers of one array share.
class number_format {
public:
  explicit number_format(number_kind kind) : kind_(kind) {}

  void look_at(const number& value) {
    if (!is_real()) {
      before_ = std::max(before_, value.text().size());
      return;
    }
    const auto real = value.real();
    if (!std::isfinite(real)) {
      others_ = std::max(others_, other(real).size());
      return;
    }
    reals_.push_back(real);
    if (real == 0)
      return;
    least_ = std::min(least_, std::abs(real));
    most_ = std::max(most_, std::abs(real));
  }

  /// Requires: look_at() has seen all numbers.
  void settle() {
    if (!is_real())
      return;
    is_scientific_ = most_ > 0 && (most_ >= 1e8 || least_ < 1e-4 || most_ / least_ > 1000);
    for (const auto real : reals_) {
      const auto [digits, exponent] = is_scientific_ ? scientific_of(real) : scientific_text{positional_of(real), ""};
      before_ = std::max(before_, digits.before.size());
      after_ = std::max(after_, digits.after.size());
      exponent_ = std::max(exponent_, exponent.size());
    }
    if (others_ > 0)
      before_ = std::max(before_, others_ - std::min(others_, after_ + 1 + exponent_));
  }

  [[nodiscard]] std::string show(const number& value) const {
    if (!is_real())
      return fmt::format("{:>{}}", value.text(), before_);
    const auto real = value.real();
    if (!std::isfinite(real))
      return fmt::format("{:>{}}", other(real), before_ + 1 + after_ + exponent_);
    if (!is_scientific_) {
      const auto text = positional_of(real);
      return fmt::format("{:>{}}.{:<{}}", text.before, before_, text.after, after_);
    }
    // All numbers get the same number of digits. If the shortest text has fewer, digits of the exact value fill up.
    const auto text = fmt::format("{:.{}e}", real, after_);
    const auto exponent_at = text.find('e');
    const auto digits = split(text.substr(0, exponent_at));
    return fmt::format("{:>{}}.{:0<{}}{}", digits.before, before_, digits.after, after_, text.substr(exponent_at));
  }

private:
  [[nodiscard]] bool is_real() const { return kind_ == number_kind::f32 || kind_ == number_kind::f64; }
  static std::string other(double value) { return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf"; }
  [[nodiscard]] split_text positional_of(double value) const {
    return kind_ == number_kind::f32 ? positional(static_cast<float>(value)) : positional(value);
  }
  [[nodiscard]] scientific_text scientific_of(double value) const {
    return kind_ == number_kind::f32 ? scientific(static_cast<float>(value)) : scientific(value);
  }

  number_kind kind_;
  std::vector<double> reals_;
  double least_ = std::numeric_limits<double>::infinity();
  double most_ = 0;
  bool is_scientific_ = false;
  std::size_t before_ = 0;
  std::size_t after_ = 0;
  std::size_t exponent_ = 0;
  std::size_t others_ = 0; // The longest of "nan", "-inf".
};

class array_printer {
public:
  array_printer(number_kind kind, const std::byte* first, std::span<const std::size_t> shape,
                std::span<const std::ptrdiff_t> strides)
      : kind_(kind), shape_(shape), strides_(strides), edges_(edges_for(shape)), format_(kind) {
    is_cut_ = *count_of(shape) >= summarized_from;
    each(first, 0, [&](const std::byte* at) { format_.look_at(load(at)); });
    format_.settle();
    text_ = shape.empty() ? alone(load(first)) : rows(first, 0, line_width);
  }

  [[nodiscard]] std::string take() { return std::move(text_); }

private:
  [[nodiscard]] std::string alone(const number& value) const {
    const auto text = kind_ == number_kind::f32 ? fmt::format("{}", static_cast<float>(value.real())) : value.text();
    const bool is_whole = text.find_first_not_of("-0123456789") == std::string::npos;
    return is_whole && value.form() == number::sort::real ? text + ".0" : text;
  }
  [[nodiscard]] number load(const std::byte* at) const { return number::load(kind_, at); }
  [[nodiscard]] const std::byte* element(const std::byte* first, std::size_t dimension, std::size_t index) const {
    return first
           + static_cast<std::ptrdiff_t>(index) * strides_[dimension] * static_cast<std::ptrdiff_t>(size_of(kind_));
  }
  /// Whether only the ends of a dimension are shown.
  [[nodiscard]] bool is_cut(std::size_t dimension) const {
    return is_cut_ && shape_[dimension] > edges_.front + edges_.back;
  }
  /// Calls `step` with each index that is shown, and `gap` once in place of those that are not.
  void indices(std::size_t dimension, auto&& step, auto&& gap) const {
    const auto length = shape_[dimension];
    for (std::size_t i = 0; i < length; ++i) {
      if (is_cut(dimension) && i == edges_.front) {
        gap();
        i = length - edges_.back;
      }
      if (i < length)
        step(i);
    }
  }
  void each(const std::byte* first, std::size_t dimension, auto&& visit) const {
    if (dimension == shape_.size())
      return visit(first);
    indices(
        dimension, [&](std::size_t i) { each(element(first, dimension, i), dimension + 1, visit); }, [] {});
  }

  [[nodiscard]] std::string rows(const std::byte* first, std::size_t dimension, std::size_t width) const {
    if (dimension == shape_.size())
      return format_.show(load(first));
    return dimension + 1 == shape_.size() ? row(first, dimension, width) : block(first, dimension, width);
  }

  // One row, broken into lines of at most `width`.
  [[nodiscard]] std::string row(const std::byte* first, std::size_t dimension, std::size_t width) const {
    const std::string indent(dimension + 1, ' ');
    std::string done;
    auto line = indent;
    const auto add = [&](const std::string& word) {
      if (line.size() > indent.size())
        line += ' ';
      if (line.size() > indent.size() && line.size() + word.size() > width - 1) {
        line.erase(line.find_last_not_of(' ') + 1);
        done += line + "\n";
        line = indent;
      }
      line += word;
    };
    indices(
        dimension, [&](std::size_t i) { add(format_.show(load(element(first, dimension, i)))); }, [&] { add("..."); });
    return "[" + (done + line).substr(indent.size()) + "]";
  }

  [[nodiscard]] std::string block(const std::byte* first, std::size_t dimension, std::size_t width) const {
    const auto apart = std::string(shape_.size() - dimension - 1, '\n') + std::string(dimension + 1, ' ');
    std::string text;
    const auto add = [&](const std::string& part) { text += (text.empty() ? "" : apart) + part; };
    indices(
        dimension, [&](std::size_t i) { add(rows(element(first, dimension, i), dimension + 1, width - 1)); },
        [&] { add("..."); });
    return "[" + text + "]";
  }

  number_kind kind_;
  std::span<const std::size_t> shape_;
  std::span<const std::ptrdiff_t> strides_;
  shown_edges edges_;
  bool is_cut_ = false;
  number_format format_;
  std::string text_;
};

} // namespace

std::string array_text(number_kind of, const std::byte* first, std::span<const std::size_t> shape,
                       std::span<const std::ptrdiff_t> strides) {
  const auto count = *count_of(shape);
  if (count == 0)
    return "[]";
  if (shape.size() > array_dimensions_max) // Showing it takes recursion, and one bracket per dimension.
    return fmt::format("[an array of {} dimensions, {} elements]", grouped(shape.size()), grouped(count));
  return array_printer(of, first, shape, strides).take();
}

} // namespace troupe::detail
