// How a process ended.
#pragma once

#include <iosfwd>
#include <string>

namespace troupe::processes {

/// How a process ended: it exited with a code, or a signal killed it.
struct ending {
  bool exited = false;
  int code = 0;   // 0 if a signal killed it.
  int signal = 0; // 0 if it exited.

  bool operator==(const ending&) const = default;

  /// The status that a shell reports: the code, or 128 + the signal.
  [[nodiscard]] int status() const { return exited ? code : 128 + signal; }
};

[[nodiscard]] constexpr ending exited_with(int code) {
  return {true, code, 0};
}
[[nodiscard]] constexpr ending killed_by(int signal) {
  return {false, 0, signal};
}

/// Converts a status of waitpid(). Requires: the process has ended.
[[nodiscard]] ending ending_of(int wait_status);

/// "ended with status 3", "was killed by signal 9 (Killed)".
[[nodiscard]] std::string text_of(const ending& how);

std::ostream& operator<<(std::ostream& out, const ending& how);

} // namespace troupe::processes
