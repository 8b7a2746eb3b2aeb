// Control groups that limit the memory of processes.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// A folder of the system's control groups.
struct group_folder {
  std::string path;
  bool is_v2 = false;
};

/// Where this process's own group lies that can limit memory. `groups` is the text of /proc/self/cgroup, `mounts` that
/// of /proc/self/mountinfo. Pure. Fails with the reason.
[[nodiscard]] std::expected<group_folder, std::string> own_memory_group(std::string_view groups,
                                                                        std::string_view mounts);

/// A control group below this process's own, for one worker and what it starts.
///
/// The owner holds a lock on the folder. So the next one to make a group can tell which folders dead owners have left,
/// and removes them.
///
/// Lifetime: the destructor kills all processes in the group, waits for them at most 0.1 s, and removes the group.
class memory_group {
public:
  /// Fails with `unsupported` if the system offers no such group, or does not let this process make one.
  [[nodiscard]] static std::expected<memory_group, node_error> make(std::uint64_t bytes_max);
  memory_group(memory_group&& other) noexcept;
  memory_group& operator=(memory_group&& other) noexcept;
  ~memory_group();

  /// The descriptor of cgroup.procs. A process that writes "0" there enters the group.
  [[nodiscard]] int entry() const noexcept { return entry_; }
  /// How many processes of the group the system has killed for memory.
  [[nodiscard]] std::uint64_t killed_for_memory() const;
  [[nodiscard]] std::uint64_t bytes_max() const noexcept { return bytes_max_; }
  [[nodiscard]] const std::string& path() const noexcept { return folder_.path; }

private:
  explicit memory_group(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}
  [[nodiscard]] std::string take_fresh_folder(const group_folder& parent);
  void kill_all() const;

  std::uint64_t bytes_max_;
  group_folder folder_; // Empty if there is none.
  int lock_ = -1;
  int entry_ = -1;
};

} // namespace troupe::internal
