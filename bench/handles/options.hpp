// What the benchmark can be told on the command line.
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
  std::uint64_t gets = 2'000;          // In one run of several.
  std::uint64_t pulls = 3;             // Of each size.
  std::uint64_t hops = 10'000;
  std::vector<std::string> subjects;
  std::string json_file; // Empty: none.
  bool shows_limits = true;
  bool has_to_meet_limits = false;   // Else they are only shown.
  std::chrono::seconds deadline{60}; // For each step of one subject in one round.

  // In the processes that are measured: which subject this one serves or drives; empty in the one that measures.
  std::string serve;
  std::size_t number = 0; // Of those that serve.
  std::string drive;
  std::string address;
};

/// Fails with the exit status when the program has to end: 0 after --help, 2 after wrong arguments.
[[nodiscard]] std::expected<handles_options, int> read_handles_options(int argument_count, const char* const* arguments,
                                                                       const std::vector<std::string>& subjects);

} // namespace bench
