// How results are shown: a table for people, lines of JSON for programs.
#pragma once

#include "harness/statistics.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// A block for each quantity, a line for each subject, a column for each peer's ratios. Ends with a line feed.
[[nodiscard]] std::string table(const std::vector<row>& rows, const std::vector<std::string>& peers);

/// One object on one line, without the line feed; the form that all benchmarks share:
/// {"bench": "throughput", "case": "one-way small struct", "subject": "troupe-unix", "unit": "msg/s",
///  "median": 1.2e6, "min": 1.1e6, "max": 1.3e6, "ratio_to": {"caf-basp": 13.1}}
[[nodiscard]] std::string json_line(std::string_view benchmark, const row& row);

/// A number in few characters: 1,234,567 or 12.3 or 0.0456.
[[nodiscard]] std::string short_number(double value);

} // namespace bench
