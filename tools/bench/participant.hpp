// The processes of a measurement. Each has a node and its actors.
#pragma once

#include "bench/measurement.hpp"

#include "harness/steps.hpp"

#include <expected>
#include <functional>
#include <string>

namespace troupe::tools {

/// A near end's answer to the steps "warm-up" and "measure", whose `step::count` is the time in microseconds.
struct answer {
  double messages = 0;
  double seconds = 0;
  double handle_bytes = 0; // Bytes sent by handle in this measurement.
  // Round-trip times in seconds; 0 if nothing comes back.
  double p50 = 0;
  double p90 = 0;
  double p99 = 0;
  double p999 = 0;
  double max = 0;

  static constexpr std::size_t numbers_count = 8;
  [[nodiscard]] bench::numbers numbers() const;
  [[nodiscard]] static answer of(const bench::numbers& values);
};

/// For a far process: opens a node, passes its address to `ready`, and serves until standard input ends. Fails with a
/// text.
[[nodiscard]] std::expected<void, std::string>
serve_far_end(const measurement& what, const std::function<void(const std::string& address)>& ready);

/// For a near process: returns the driver of the far nodes. `addresses` has their addresses, separated by commas. With
/// the in-process transport the call creates the far nodes itself. Fails with a text.
[[nodiscard]] std::expected<bench::step_taker, std::string> connect_near_end(const measurement& what,
                                                                             const std::string& addresses);

} // namespace troupe::tools
