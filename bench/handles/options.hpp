// The benchmark's command line.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <vector>

namespace bench {

struct handles_options {
  int rounds = 5;
  std::size_t large_bytes = 256 << 20; // The largest value.
  std::uint64_t requests = 300;        // Of each kind.
  std::uint64_t gets = 2'000;          // In each of several runs.
  std::uint64_t pulls = 3;             // Of each size.
  std::uint64_t hops = 10'000;
  std::vector<std::string> subjects;
  std::string json_file; // Empty for no file.
  bool shows_limits = true;
  bool has_to_meet_limits = false;   // Otherwise the limits are only shown.
  std::chrono::seconds deadline{60}; // For each step of one subject in one round.

  // In measured processes: the subject to serve or drive. Empty in the measuring process.
  std::string serve;
  std::size_t number = 0; // The number of this process among those that serve.
  std::string drive;
  std::string address;
};

/// If the program has to end, fails with its exit status: 0 after --help, 2 after wrong arguments.
[[nodiscard]] std::expected<handles_options, int> read_handles_options(int argument_count, const char* const* arguments,
                                                                       const std::vector<std::string>& subjects);

} // namespace bench
