// The processes of a measurement: each has a node, and actors behind it.
#pragma once

#include "bench/measurement.hpp"

#include "harness/steps.hpp"

#include <expected>
#include <functional>
#include <string>

namespace troupe::tools {

/// What a near end answers to the steps "warm-up" and "measure", which take so many microseconds (`step::count`).
struct answer {
  double messages = 0;
  double seconds = 0;
  double handle_bytes = 0; // Sent by handle, of this measurement.
  // In seconds, there and back; 0 where nothing comes back.
  double p50 = 0;
  double p90 = 0;
  double p99 = 0;
  double p999 = 0;
  double max = 0;

  static constexpr std::size_t numbers_count = 8;
  [[nodiscard]] bench::numbers numbers() const;
  [[nodiscard]] static answer of(const bench::numbers& values);
};

/// In a far process: opens, says where it can be reached, and serves until standard input ends. Fails with a text.
[[nodiscard]] std::expected<void, std::string>
serve_far_end(const measurement& what, const std::function<void(const std::string& address)>& ready);

/// In a near process: what drives the far ones at these addresses, separated by commas. Within a process it makes them
/// itself. Fails with a text.
[[nodiscard]] std::expected<bench::step_taker, std::string> connect_near_end(const measurement& what,
                                                                             const std::string& addresses);

} // namespace troupe::tools
