// The clock of leases.
#pragma once

#include <cstdint>
#include <ctime>

namespace troupe::cluster_directories {

/// Milliseconds since the host was started, including the time that it was suspended. All processes of a host read the
/// same, except those in another time namespace.
[[nodiscard]] inline std::int64_t boottime_ms() {
  auto now = timespec{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000 + now.tv_nsec / 1'000'000;
}

} // namespace troupe::cluster_directories
