// The options of `troupe bench`, and the plan of measurements made from them.
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
  double total_seconds = 0; // 0 means no limit.
  bool is_quick = false;
  bool is_json = false;
  std::string csv_file;
  std::string svg_file;
  std::string directory = "/dev/shm";
};

inline constexpr std::size_t size_least = 8;
inline constexpr std::size_t size_most = std::size_t{1} << 30;

/// Reads a size such as "8", "64B", "1Ki", "1KiB" or "1M". All units are powers of 1,024. Fails with a text that shows
/// how to write a size.
[[nodiscard]] std::expected<std::size_t, std::string> read_size(const std::string& text);

/// Reads one size, or a range such as "8..1Mi", in which each size is eight times the one before. Fails with a text.
[[nodiscard]] std::expected<std::vector<std::size_t>, std::string> read_sizes(const std::string& text);

/// Plans every combination once. In-process measurements have neither family nor compression. Fails with a text.
[[nodiscard]] std::expected<std::vector<measurement>, std::string> plan_of(const bench_request& asked);

/// The estimated time in seconds for that many measurements. Large payloads and slow families take longer.
[[nodiscard]] double expected_seconds(const bench_request& asked, std::size_t measurements);

/// Shortens the measurements to fit into `total_seconds`, if that is set. Fails with a text if no time is left to
/// measure.
[[nodiscard]] std::expected<void, std::string> fit_into_total(bench_request& asked, std::size_t measurements);

} // namespace troupe::tools
