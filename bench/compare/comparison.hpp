// Reads the results of benchmarks, and compares Troupe with the other subjects in them.
#pragma once

#include "harness/rounds.hpp"
#include "harness/statistics.hpp"

#include <expected>
#include <istream>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// The results of one benchmark.
struct benchmark_results {
  std::string benchmark;
  std::vector<row> rows;
  std::vector<std::pair<std::string, failure>> missing; // By subject.
};

/// Reads the lines that harness/report.hpp writes. Fails with a text.
[[nodiscard]] std::expected<benchmark_results, std::string> read_results(std::string benchmark, std::istream& lines);

/// A subject's role, told by its name: Troupe itself, or a limit, which is no alternative for users but shows what is
/// achievable.
[[nodiscard]] bool is_ours(const std::string& subject);
[[nodiscard]] bool is_limit(const std::string& subject);

/// Whether greater values are better, as for messages a second. Of times, smaller values are better.
[[nodiscard]] bool is_rate(const quantity& what);

/// Sorts the rows, best first. Requires: all of `rows` have the same quantity.
[[nodiscard]] std::vector<row> ranked(std::vector<row> rows);

/// The factor by which `ours` is better than `theirs`: the median of the rounds' ratios, below 1 if it is worse. 0 if
/// there is no such ratio.
[[nodiscard]] double advantage(const row& ours, const std::string& theirs);

/// Two values that differ by a smaller factor count as even.
constexpr double even_max = 1.05;

/// The quantities of the rows, each once, in order of appearance.
[[nodiscard]] std::vector<quantity> quantities_of(const std::vector<row>& rows);
[[nodiscard]] std::vector<row> rows_of(const std::vector<row>& rows, const quantity& what);

} // namespace bench
