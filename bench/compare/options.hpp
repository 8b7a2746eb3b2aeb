// The program's command line.
#pragma once

#include <cstdint>
#include <expected>
#include <filesystem>
#include <string>
#include <vector>

namespace bench {

/// The extent of a run.
enum class extent : std::uint8_t {
  full,
  quick, ///< Four minutes: fewer and shorter rounds, no value above 16 MiB.
  tiny,  ///< Shows only whether it works.
};

struct compare_options {
  std::filesystem::path folder = "results";
  extent how_much = extent::full;
  int rounds = 5;                    ///< Of a full run.
  std::vector<std::string> subjects; ///< Only these, in the benchmarks that have them. Empty for all.
};

/// If the program has to end, fails with its exit status: 0 after --help, 2 after wrong arguments.
[[nodiscard]] std::expected<compare_options, int> read_compare_options(int argument_count, const char* const* arguments,
                                                                       const std::vector<std::string>& subjects);

} // namespace bench
