// The files of a comparison: a table for people, JSON for programs, and plots.
#pragma once

#include "compare/comparison.hpp"
#include "compare/machine.hpp"

#include <expected>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// The results of a whole run.
struct comparison {
  std::string date;
  std::vector<std::pair<std::string, std::string>> machine; // Facts by name.
  shares taken;                                             // Shares of the processors during the run.
  std::string extent;                                       // Such as "5 rounds".
  std::vector<benchmark_results> benchmarks;
};

/// Tables, best first, preceded by the rows in which a peer is ahead of Troupe. Refers to the plots in the same folder.
[[nodiscard]] std::string markdown_of(const comparison& made);

/// One object with "date", "machine", "extent", "processors", "rows", as in the benchmarks' own files, and "missing".
[[nodiscard]] std::string json_of(const comparison& made);

/// Scripts for drawn() by file name without ".svg". Only plots that have values.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> plots_of(const comparison& made);

/// Writes results.md, results.json and the plots. Fails with a text, for example without gnuplot.
[[nodiscard]] std::expected<void, std::string> write_files(const comparison& made, const std::filesystem::path& folder);

} // namespace bench
