// What the benchmark can be told on the command line.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <string>
#include <vector>

namespace bench {

struct bulk_options {
  int rounds = 5;
  std::uint64_t bulk_messages = 64;    // About 1 GiB.
  std::uint64_t round_trips = 2'000;   // Idle ones.
  std::size_t store_bytes = 256 << 20; // A large value that goes by the store.
  std::uint64_t store_round_trips = 9; // With such a value.
  std::vector<std::string> subjects;
  std::string json_file; // Empty: none.
  bool shows_limits = true;
  bool has_to_meet_limits = false;   // Else they are only shown.
  std::chrono::seconds deadline{60}; // For each step of one subject in one round.

  // In the processes that are measured: which subject this one serves or drives; empty in the one that measures.
  std::string serve;
  std::string drive;
  std::string address;
};

/// Fails with the exit status when the program has to end: 0 after --help, 2 after wrong arguments.
[[nodiscard]] std::expected<bulk_options, int> read_bulk_options(int argument_count, const char* const* arguments,
                                                                 const std::vector<std::string>& subjects);

} // namespace bench
