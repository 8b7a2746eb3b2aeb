// Output of results: a table for people, lines of JSON for programs.
#pragma once

#include "harness/rounds.hpp"
#include "harness/statistics.hpp"

#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

/// One block for each quantity, with one line for each subject and one column for each peer's ratios. Ends with a line
/// feed.
[[nodiscard]] std::string table(const std::vector<row>& rows, const std::vector<std::string>& peers);

/// One object on one line, without the line feed. All benchmarks share this form:
/// {"bench": "throughput", "case": "one-way small struct", "subject": "troupe-unix", "unit": "msg/s",
///  "median": 1.2e6, "min": 1.1e6, "max": 1.3e6, "ratio_to": {"caf-basp": 13.1}}
[[nodiscard]] std::string json_line(std::string_view benchmark, const row& row);

/// A subject without results, in the same file. `is_absent` is false if it failed.
/// {"bench": "throughput", "subject": "nng-ipc", "is_absent": true, "reason": "not built: libnng-dev not found"}
[[nodiscard]] std::string json_line(std::string_view benchmark, const std::string& subject, const failure& failed);

/// Writes all lines of a benchmark.
void write_json(std::ostream& out, std::string_view benchmark, const std::vector<row>& rows,
                const std::vector<std::pair<std::string, failure>>& failures);

/// A number in few characters: 1,234,567 or 12.3 or 0.0456.
[[nodiscard]] std::string short_number(double value);

} // namespace bench
