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

/// A whole run.
struct comparison {
  std::string date;
  std::vector<std::pair<std::string, std::string>> machine; // Facts, each under its name.
  shares taken;                                             // Of the processors, while it ran.
  std::string extent;                                       // "5 rounds".
  std::vector<benchmark_results> benchmarks;
};

/// Tables, best first, with what Troupe loses named before them. Names the plots that lie beside it.
[[nodiscard]] std::string markdown_of(const comparison& made);

/// One object: "date", "machine", "extent", "processors", "rows", each as in the benchmarks' own files, and "missing".
[[nodiscard]] std::string json_of(const comparison& made);

/// By the file's name, without ".svg". Only those that there are values for.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> plots_of(const comparison& made);

/// Writes results.md, results.json and the plots. Fails with a text.
[[nodiscard]] std::expected<void, std::string> write_files(const comparison& made, const std::filesystem::path& folder);

} // namespace bench
