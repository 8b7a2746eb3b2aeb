// The benchmark's command line.
#pragma once

#include <chrono>
#include <cstddef>
#include <expected>
#include <string>
#include <vector>

namespace bench {

struct payload_options {
  int rounds = 5;
  std::size_t largest_bytes = 256 << 20; // Sizes above it are left out.
  std::size_t bytes_each = 512 << 20;    // Approximate bytes that pass for each size in a round.
  std::vector<std::string> subjects;
  std::string json_file;             // Empty for no file.
  std::chrono::seconds deadline{60}; // For one size of one subject in one round.

  // In measured processes: the subject to serve or drive. Empty in the measuring process.
  std::string serve;
  std::string drive;
  std::string address;
};

/// If the program has to end, fails with its exit status: 0 after --help, 2 after wrong arguments.
[[nodiscard]] std::expected<payload_options, int> read_payload_options(int argument_count, const char* const* arguments,
                                                                       const std::vector<std::string>& subjects);

} // namespace bench
