// The time by which leases are measured.
#pragma once

#include <chrono>
#include <cstdint>

#include <time.h>

namespace troupe::membership {

/// The time since the host started, including the time in which it slept: Linux' CLOCK_BOOTTIME. A process that was
/// stopped, and a host that was suspended, see afterwards that a lease has passed.
struct boot_clock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<boot_clock>;
  static constexpr bool is_steady = true;

  [[nodiscard]] static time_point now() noexcept {
    timespec read{};
    ::clock_gettime(CLOCK_BOOTTIME, &read);
    return time_point{std::chrono::seconds{read.tv_sec} + std::chrono::nanoseconds{read.tv_nsec}};
  }
};

} // namespace troupe::membership
