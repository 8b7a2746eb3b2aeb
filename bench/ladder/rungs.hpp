// The parts of a small message's way that a single thread can run without contention: CAF's own part, and the coding.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// The end of a link where the step happens.
enum class link_end : std::uint8_t { sending, receiving };

/// The component that does the step's work.
enum class worker : std::uint8_t { caf, coding };

struct rung {
  std::string name;
  link_end at = link_end::sending;
  worker whose = worker::caf;
  bool is_in_whole = true; // Each message over a link takes it; otherwise CAF takes it instead of another step.
  /// Takes the step `count` times. Returns the processor time of one step in nanoseconds, or fails with a text.
  std::function<std::expected<double, std::string>(std::uint64_t count)> take;
};

[[nodiscard]] const std::vector<rung>& all_rungs();
[[nodiscard]] const rung* find_rung(std::string_view name);

} // namespace bench
