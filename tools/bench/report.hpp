// What `troupe bench` shows.
#pragma once

#include "bench/running.hpp"

#include <string>

namespace troupe::tools {

/// For people: where it was measured, and a table for each kind of pattern.
[[nodiscard]] std::string text_of(const run_results& results);

/// One JSON document; the form: tools/README.md.
[[nodiscard]] std::string json_of(const run_results& results);

/// A line for each measurement, with the machine in each: tables of several machines can be put together.
[[nodiscard]] std::string csv_of(const run_results& results);

/// A chart of throughput over size for each pattern, and of latency where messages come back.
[[nodiscard]] std::string svg_of(const run_results& results);

} // namespace troupe::tools
