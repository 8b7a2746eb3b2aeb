// What `troupe bench` was asked for, and what is to be measured then.
#pragma once

#include "bench/measurement.hpp"

#include <cstddef>
#include <expected>
#include <string>
#include <vector>

namespace troupe::tools {

struct bench_request {
  std::vector<std::string> patterns{"one-way", "echo"};
  std::vector<std::string> transports{"unix"};
  std::vector<std::string> families{"typed"};
  std::vector<std::string> compressions{"none"};
  std::vector<std::string> sizes{"8", "1Ki", "64Ki", "1Mi"};
  std::string spill = "64Ki";
  std::string data = "noise";
  std::size_t peers = 4;
  std::size_t in_flight = 32;
  int rounds = 5;
  double seconds = 0.4;
  double total_seconds = 0; // 0: as long as it takes.
  bool is_quick = false;
  bool is_json = false;
  std::string csv_file;
  std::string svg_file;
  std::string directory = "/dev/shm";

  // How the command starts itself: what this process serves or drives.
  std::string serve;
  std::string drive;
  std::string address;
};

inline constexpr std::size_t size_least = 8;
inline constexpr std::size_t size_most = std::size_t{1} << 30;

/// "8", "64B", "1Ki", "1KiB", "1M": all are powers of 1,024. Fails with a text that shows how to write one.
[[nodiscard]] std::expected<std::size_t, std::string> read_size(const std::string& text);

/// One size, or all of "8..1Mi", each eight times the one before. Fails with a text.
[[nodiscard]] std::expected<std::vector<std::size_t>, std::string> read_sizes(const std::string& text);

/// Every combination, each once; within a process there are neither families nor compression. Fails with a text.
[[nodiscard]] std::expected<std::vector<measurement>, std::string> plan_of(const bench_request& asked);

/// About how long it takes to measure so many, in seconds, unless payloads are large or families slow.
[[nodiscard]] double expected_seconds(const bench_request& asked, std::size_t measurements);

/// Makes measurements shorter where `total_seconds` asks for it. Fails with a text where that leaves nothing.
[[nodiscard]] std::expected<void, std::string> fit_into_total(bench_request& asked, std::size_t measurements);

} // namespace troupe::tools
