// Known pauses of a server, for trying the generator.
#pragma once

#include <chrono>
#include <expected>
#include <string>

namespace troupe::tools {

/// A server with this stall handles nothing for `pause` at the begin of each `period`. No pause: it never stalls.
struct stall {
  std::chrono::nanoseconds pause{0};
  std::chrono::nanoseconds period{1};

  /// How long a request waits for the end of a pause that comes this long after the server's start.
  [[nodiscard]] constexpr std::chrono::nanoseconds wait_at(std::chrono::nanoseconds since_start) const {
    const auto into_period = since_start % period;
    return into_period < pause ? pause - into_period : std::chrono::nanoseconds{0};
  }

  /// Reads a stall such as "100ms/1s". Fails with a text that shows how to write it.
  [[nodiscard]] static std::expected<stall, std::string> read(const std::string& text);
};

} // namespace troupe::tools
