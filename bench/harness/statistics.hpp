// Turns the values of several rounds into medians, ranges, and ratios taken round by round.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace bench {

/// The middle value, or the mean of the two in the middle. Requires: `values` is not empty.
[[nodiscard]] double median(std::vector<double> values);

/// The smallest of `values` that at least `percent` per cent of them do not exceed. Requires: `values` is not empty.
[[nodiscard]] double percentile(std::vector<double> values, double percent);

/// One quantity of one benchmark, such as "one-way small struct" in msg/s.
struct quantity {
  std::string name;
  std::string unit;
  friend auto operator<=>(const quantity&, const quantity&) = default;
};

/// The result of one subject in one quantity, over all rounds.
struct row {
  quantity what;
  std::string subject;
  double median = 0;
  double min = 0;
  double max = 0;
  std::map<std::string, double> ratio_to; // By peer: the median of the rounds' ratios, ours over the peer's.
  std::size_t rounds = 0;                 // Number of rounds that have a value.
  std::vector<double> values = {};        // Of these rounds, in order.
};

/// The values of all rounds.
class results {
public:
  void add(const quantity& what, const std::string& subject, int round, double value);

  /// A row for each quantity and subject with values, in the order in which they were first added. The ratios are to
  /// `peers`. A ratio uses only rounds in which both subjects have a value, so that common disturbances cancel out.
  [[nodiscard]] std::vector<row> rows(const std::vector<std::string>& peers) const;

private:
  using by_round = std::map<int, double>;
  struct series {
    quantity what;
    std::string subject;
    by_round values;
  };
  [[nodiscard]] const series* find(const quantity& what, const std::string& subject) const;

  std::vector<quantity> quantities_; // Each once, in order of appearance.
  std::vector<series> series_;
};

/// The row of that quantity and subject, or null if there is none.
[[nodiscard]] const row* find_row(const std::vector<row>& rows, const std::string& quantity_name,
                                  const std::string& subject);

} // namespace bench
