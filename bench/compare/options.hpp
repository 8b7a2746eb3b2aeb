// What the program can be told on the command line.
#pragma once

#include <cstdint>
#include <expected>
#include <filesystem>
#include <string>
#include <vector>

namespace bench {

/// How much is measured.
enum class extent : std::uint8_t {
  full,
  quick, ///< In four minutes: fewer and shorter rounds, no value above 16 MiB.
  tiny,  ///< Whether it works, and no more.
};

struct compare_options {
  std::filesystem::path folder = "results";
  extent how_much = extent::full;
  int rounds = 5;                    ///< Of a full run.
  std::vector<std::string> subjects; ///< Only these, each where it takes part. Empty: all.
};

/// Fails with the exit status when the program has to end: 0 after --help, 2 after wrong arguments.
[[nodiscard]] std::expected<compare_options, int> read_compare_options(int argument_count, const char* const* arguments,
                                                                       const std::vector<std::string>& subjects);

} // namespace bench
