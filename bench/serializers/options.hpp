// The benchmark's command line.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

namespace bench {

struct serializers_options {
  int rounds = 15;
  std::uint64_t structs = 200'000;
  std::vector<std::uint64_t> array_bytes{1 << 10, 1 << 20, 8'000'000, 256 << 20}; // 8,000,000: a million doubles.
  std::vector<std::string> subjects;                                              // Names of serializer_subjects().
  std::string json_file;                                                          // Empty for no file.
  bool shows_limits = true;
  bool has_to_meet_limits = false; // Otherwise the limits are only shown.
};

/// If the program has to end, fails with its exit status: 0 after --help, 2 after wrong arguments.
[[nodiscard]] std::expected<serializers_options, int>
read_serializers_options(int argument_count, const char* const* arguments, const std::vector<std::string>& subjects);

} // namespace bench
