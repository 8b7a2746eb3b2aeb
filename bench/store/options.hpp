// The benchmark's command line.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

namespace bench {

struct store_options {
  int rounds = 15;
  std::vector<std::uint64_t> large_bytes{1 << 20, 16 << 20, 256 << 20}; // Sizes of the objects that are put.
  std::uint64_t small_puts = 100'000;
  std::uint64_t cold_bytes = 256 << 20;
  std::uint64_t disk_bytes = 256 << 20;
  std::uint32_t many_objects = 1'000'000;
  std::vector<std::string> cases; // Names in cases.hpp.
  std::string spill_directory = "/var/tmp/troupe-bench-store";
  std::string json_file; // Empty for no file.
  bool shows_limits = true;
  bool has_to_meet_limits = false; // Otherwise the limits are only shown.
};

/// If the program has to end, fails with its exit status: 0 after --help, 2 after wrong arguments.
[[nodiscard]] std::expected<store_options, int> read_store_options(int argument_count, const char* const* arguments,
                                                                   const std::vector<std::string>& cases);

} // namespace bench
