// The search for the highest rate that a peer sustains.
#pragma once

#include <optional>

namespace troupe::tools {

/// Doubles the rate until it is too high, or halves it until it is not, then bisects between the two, on a logarithmic
/// scale, until they differ by at most 5 %.
class knee_search {
public:
  inline static constexpr double precision = 0.05;

  /// Requires: the rates are above 0, and `first` is between `least` and `most`.
  knee_search(double first, double least, double most);

  /// The rate to try next. Nullopt if the search is over.
  [[nodiscard]] std::optional<double> next() const;

  /// The result of trying next(). Requires: the search is not over.
  void take(bool is_sustained);

  [[nodiscard]] std::optional<double> last_good() const { return good_; }
  /// Nullopt if even the highest rate was sustained.
  [[nodiscard]] std::optional<double> first_bad() const { return bad_; }

private:
  double first_;
  double least_;
  double most_;
  std::optional<double> good_;
  std::optional<double> bad_;
};

} // namespace troupe::tools
