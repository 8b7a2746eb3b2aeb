// What `troupe bench diff` takes from a document of `troupe bench`.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::tools {

/// The values of one quantity of one measurement, one for each round.
struct measured_values {
  std::string measurement;
  std::string quantity; // One of compared_quantities.
  std::vector<double> values;
};

inline constexpr const char* compared_quantities[] = {"rate", "p50", "p90", "p99", "p99.9", "p99.99", "max"};

/// Of rates, more is faster; of times, less.
[[nodiscard]] constexpr bool is_rate(std::string_view quantity) {
  return quantity == "rate";
}

struct comparable {
  std::string file;
  std::string processors; // For people, and to compare.
  std::string troupe;     // The version.
  bool is_optimized = true;
  std::vector<measured_values> all;
  std::vector<std::string> failed; // Measurements without values.
};

/// Reads a document of the closed loop or of offered load. Fails with a text that names `file`.
[[nodiscard]] std::expected<comparable, std::string> read_comparable(std::string_view text, const std::string& file);

} // namespace troupe::tools
