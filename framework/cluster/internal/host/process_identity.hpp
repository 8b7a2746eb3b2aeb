// Which process granted a lease.
#pragma once

#include <compare>
#include <cstdint>

namespace troupe::cluster_directories {

/// A process, distinguished from a later one with the same number.
struct process_identity {
  std::uint64_t number = 0;        // In its own pid namespace.
  std::uint64_t started = 0;       // In clock ticks since the host was started.
  std::uint64_t pid_namespace = 0; // The namespace's inode; 0 if unknown.

  friend auto operator<=>(const process_identity&, const process_identity&) = default;
};

/// The calling process. Its pid namespace is 0 if /proc is not mounted, or is that of another namespace.
[[nodiscard]] process_identity own_process();

/// What /proc says of a process of the own pid namespace.
struct process_state {
  bool is_known = false; // False if /proc cannot be read, for example without a free descriptor.
  bool exists = false;
  char letter = '?'; // As in /proc/PID/stat: 'Z' has ended, 'T' is stopped.
  std::uint64_t started = 0;
};
[[nodiscard]] process_state state_of_process(std::uint64_t number);

/// Whether /proc proves that the process has ended: it is not there, is a zombie, or its number is another one's.
[[nodiscard]] bool has_ended(const process_identity& process, const process_state& state);

} // namespace troupe::cluster_directories
