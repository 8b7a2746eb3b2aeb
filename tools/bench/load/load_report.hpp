// The output formats of offered load, besides JSON.
#pragma once

#include "bench/load/load_document.hpp"

#include <expected>
#include <string>

namespace troupe::tools {

/// For people: what was offered, a line for each round, and the failures.
[[nodiscard]] std::string text_of(const load_document& document);

/// The latencies of all rounds in the format of HdrHistogram, in milliseconds.
[[nodiscard]] std::string hgrm_of(const load_document& document);

/// A chart of the latencies over their percentiles. Fails with a text if gnuplot cannot draw it.
[[nodiscard]] std::expected<std::string, std::string> svg_of(const load_document& document);

/// One line: "8,000/s  achieved 7,998/s  p99 1.2 ms".
[[nodiscard]] std::string line_of(const load_round& round);

} // namespace troupe::tools
