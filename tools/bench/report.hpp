// The output formats of `troupe bench`.
#pragma once

#include "bench/running.hpp"

#include <expected>
#include <string>

namespace troupe::tools {

/// For people: the machine, and a table for each kind of pattern.
[[nodiscard]] std::string text_of(const run_results& results);

/// One JSON document; its form: tools/README.md.
[[nodiscard]] std::string json_of(const run_results& results);

/// One line for each measurement. Each line names the machine, so that tables of several machines can be concatenated.
[[nodiscard]] std::string csv_of(const run_results& results);

/// For each pattern a chart of throughput over size, and of latency if its messages come back. Fails with a text if
/// gnuplot cannot draw them.
[[nodiscard]] std::expected<std::string, std::string> svg_of(const run_results& results);

} // namespace troupe::tools
