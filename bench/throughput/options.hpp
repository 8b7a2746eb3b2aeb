// The benchmark's command line.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <string>
#include <vector>

namespace bench {

struct options {
  int rounds = 0;             // 0 means the question's own number.
  double seconds = 0.5;       // Approximate time of one case of one subject in one round.
  std::uint64_t messages = 0; // If not 0, replaces `seconds`.
  std::vector<std::string> subjects;
  std::vector<std::string> cases;
  std::string json_file; // Empty for no file.
  bool check_floors = false;
  std::chrono::seconds deadline{60}; // For one case of one subject in one round.

  // In measured processes: the subject to serve or drive. Empty in the measuring process.
  std::string serve;
  std::string drive;
  std::string address;
};

/// If the program has to end, fails with its exit status: 0 after --help, 2 after wrong arguments.
[[nodiscard]] std::expected<options, int> read_options(int argument_count, const char* const* arguments);

} // namespace bench
