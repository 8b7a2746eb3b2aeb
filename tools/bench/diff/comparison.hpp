// Compares two documents of `troupe bench`.
#pragma once

#include "bench/diff/comparable.hpp"
#include "bench/diff/ratio.hpp"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <vector>

namespace troupe::tools {

struct diff_options {
  std::vector<std::string> quantities{"rate", "p99"}; // As far as the measurements have them.
  double allowed = 0.05;                              // How much slower is allowed; 0.05 is 5 %.
  std::uint64_t seed = 1;
};

/// One quantity of one measurement in both documents.
struct compared_values {
  std::string measurement;
  std::string quantity;
  double before = 0; // The medians.
  double after = 0;
  std::size_t rounds_before = 0;
  std::size_t rounds_after = 0;
  ratio_interval ratio; // After to before.

  /// The interval is on one side of 1.
  [[nodiscard]] bool is_slower() const;
  [[nodiscard]] bool is_faster() const;
  /// By more than this part, at every point of the interval.
  [[nodiscard]] bool is_slower_by(double part) const;
};

struct comparison {
  std::vector<compared_values> all;
  std::vector<std::string> warnings;
};

/// Compares each measurement. Fails with a text if the documents have different measurements (it names what one of them
/// lacks), if one has failed, if none has any of the quantities, if a value is 0, or with fewer than three rounds.
[[nodiscard]] std::expected<comparison, std::string> compared(const comparable& before, const comparable& after,
                                                              const diff_options& options);

/// A table for people, and JSON; its form: tools/README.md.
[[nodiscard]] std::string text_of(const comparison& made, const diff_options& options);
[[nodiscard]] std::string json_of(const comparison& made, const diff_options& options);

} // namespace troupe::tools
