// The benchmark's command line.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <string>
#include <vector>

namespace bench {

struct healing_options {
  int rounds = 5;
  std::uint64_t messages = 200'000;
  std::uint64_t requests = 20'000;
  std::uint64_t handles = 10'000;
  std::uint64_t deaths = 50;
  std::vector<std::string> subjects;
  std::string json_file; // Empty for no file.
  bool shows_limits = true;
  bool has_to_meet_limits = false;   // Otherwise the limits are only shown.
  std::chrono::seconds deadline{60}; // For each step of one subject in one round.

  // In measured processes: the subject to serve or drive. Empty in the measuring process.
  std::string serve;
  std::string drive;
  std::string address;
};

/// If the program has to end, fails with its exit status: 0 after --help, 2 after wrong arguments.
[[nodiscard]] std::expected<healing_options, int> read_healing_options(int argument_count, const char* const* arguments,
                                                                       const std::vector<std::string>& subjects);

} // namespace bench
