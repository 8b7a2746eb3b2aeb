// What benchmarks have found out, read back, and how Troupe stands beside the others there.
#pragma once

#include "harness/rounds.hpp"
#include "harness/statistics.hpp"

#include <expected>
#include <istream>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// What one benchmark gave.
struct benchmark_results {
  std::string benchmark;
  std::vector<row> rows;
  std::vector<std::pair<std::string, failure>> missing; // By subject.
};

/// Reads the lines that harness/report.hpp writes. Fails with a text.
[[nodiscard]] std::expected<benchmark_results, std::string> read_results(std::string benchmark, std::istream& lines);

/// A subject's part in a comparison, which its name tells: Troupe itself, or a limit, which nobody would pick instead
/// but which shows what could be had.
[[nodiscard]] bool is_ours(const std::string& subject);
[[nodiscard]] bool is_limit(const std::string& subject);

/// Whether more of it is better, as of messages a second. Of times less is.
[[nodiscard]] bool is_rate(const quantity& what);

/// The row's quantity, in which all of `rows` are, best first.
[[nodiscard]] std::vector<row> ranked(std::vector<row> rows);

/// By what factor `ours` is better than `theirs`, the median of the ratios of each round; below 1 where it is worse.
/// Without such a ratio 0.
[[nodiscard]] double advantage(const row& ours, const std::string& theirs);

/// Two that differ by less are even.
constexpr double even_max = 1.05;

/// The quantities of the rows, each once, in order of appearance.
[[nodiscard]] std::vector<quantity> quantities_of(const std::vector<row>& rows);
[[nodiscard]] std::vector<row> rows_of(const std::vector<row>& rows, const quantity& what);

} // namespace bench
