// What a node tells the person who runs it, on the standard error stream.
#pragma once

#include <cstdint>
#include <string_view>

namespace troupe::internal {

enum class log_level : std::uint8_t { quiet = 0, error = 1, warning = 2, info = 3, debug = 4 };

/// Set by the environment variable TROUPE_LOG: quiet, error, warning (default), info, debug.
[[nodiscard]] log_level log_threshold();

/// One line, whole, from any thread; what would end it, or steer a terminal, is replaced. Evaluate costly texts only
/// when `log_threshold` admits them.
void log(log_level level, std::string_view text);

} // namespace troupe::internal
