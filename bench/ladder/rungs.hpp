// What one thread can take of a small message's way by itself, nothing contended: CAF's own part, and the coding.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// The end of a link that takes the step.
enum class link_end : std::uint8_t { sending, receiving };

/// Whose work a step is.
enum class worker : std::uint8_t { caf, coding };

struct rung {
  std::string name;
  link_end at = link_end::sending;
  worker whose = worker::caf;
  bool is_in_whole = true; // Each message over a link takes it; else it is what CAF would do in place of another one.
  /// Takes the step `count` times. Gives the processor time of one step in nanoseconds, or fails with a text.
  std::function<std::expected<double, std::string>(std::uint64_t count)> take;
};

[[nodiscard]] const std::vector<rung>& all_rungs();
[[nodiscard]] const rung* find_rung(std::string_view name);

} // namespace bench
