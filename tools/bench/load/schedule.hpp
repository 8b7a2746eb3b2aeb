// When requests are to be sent. A schedule depends on nothing that happens in a run.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <random>
#include <string>

namespace troupe::tools {

enum class arrivals : std::uint8_t {
  poisson, ///< Independent of each other, as from many users: the gaps are distributed exponentially.
  uniform, ///< With equal gaps.
};

/// The intended start of each request, in order. Equal arguments give equal schedules, on every machine.
class schedule {
public:
  /// Requires: `rate` is above 0, in requests per second. Only `poisson` uses the seed.
  schedule(arrivals how, double rate, std::uint64_t seed);

  /// The time from the begin of the run to the next intended start. Never less than the one before.
  [[nodiscard]] std::chrono::nanoseconds next();

private:
  arrivals how_;
  double gap_ns_; // The mean.
  std::mt19937_64 random_;
  std::uint64_t count_ = 0;
  double at_ns_ = 0;
};

inline constexpr double rate_least = 0.1;
inline constexpr double rate_most = 1e8;

/// Reads a rate such as "500", "2.5k" or "1M", in requests per second. Fails with a text that shows how to write it.
[[nodiscard]] std::expected<double, std::string> read_rate(const std::string& text);

/// Reads a time such as "100ms", "1s", "20us". Fails with a text that shows how to write it.
[[nodiscard]] std::expected<std::chrono::nanoseconds, std::string> read_time(const std::string& text);

} // namespace troupe::tools
