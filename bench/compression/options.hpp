// The benchmark's command line.
#pragma once

#include <cstddef>
#include <expected>
#include <string>
#include <vector>

namespace bench {

struct compression_options {
  int rounds = 9;
  std::size_t frame_bytes = 8'000'000;
  int repetitions = 5;               // Per round; their mean counts.
  std::vector<std::string> subjects; // Names of compression_subjects().
  std::vector<std::string> kinds;    // Names of data_kinds().
  std::string json_file;             // Empty for no file.
};

/// If the program has to end, fails with its exit status: 0 after --help, 2 after wrong arguments.
[[nodiscard]] std::expected<compression_options, int> read_compression_options(int argument_count,
                                                                               const char* const* arguments,
                                                                               const std::vector<std::string>& subjects,
                                                                               const std::vector<std::string>& kinds);

} // namespace bench
