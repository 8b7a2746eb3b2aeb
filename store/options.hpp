// How a store is opened.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace troupe::store {

/// Processes of one user that open the same directory and name share one store. The first opener decides its capacity
/// and object count; 0 means the existing store's value, or the default.
struct options {
  /// 1 to 64 characters of `[A-Za-z0-9_-]`.
  std::string name = "default";

  /// Memory for objects. Default: the smallest of 30 % of the machine's memory, 90 % of the free space in `directory`
  /// and half of what the process's cgroup may still take. Pages are taken when they are first needed and stay taken
  /// until the store is gone. If `directory` lacks that much room and there is a `spill_directory`, the objects lie in
  /// the `spill_directory` (`object_store::notice` then says so).
  std::size_t capacity_bytes = 0;

  /// Rows of the object table. Default: 1,048,576; at most 2,097,152. A row takes about 250 bytes once used.
  std::uint32_t objects_max = 0;

  /// How long a call waits for the table's lock before it fails with `store_errc::busy`. The lock is normally held for
  /// microseconds, so a long wait means that its owner is stopped. Raising the timeout hides a stopped owner for
  /// longer; lowering it may mistake a busy machine for a stopped owner.
  std::chrono::milliseconds lock_timeout{5000};

  /// Folder of the shared files. Anything but a tmpfs works but is slow.
  std::filesystem::path directory = "/dev/shm";

  /// Absolute path for objects that are spilled, least recently used first, when memory is more than 80 % full; created
  /// if missing. A thread of each process spills ahead of need. The first opener decides; empty: the first opener's
  /// choice, or no spilling. Must be on a disk of this host, because files left by dead processes are removed. Stores
  /// that differ in name, user or `directory` may share it.
  std::filesystem::path spill_directory{};

  /// How many bytes beyond the high-water mark each process touches in advance, in the background. The first use of
  /// such memory is at least four times as fast as that of untouched memory. Raising it serves longer bursts of large
  /// objects; lowering it takes less memory before it is needed. 0: none.
  std::size_t pretouch_bytes = 0;

  /// Whether to ask for huge pages, which speed up the first read and write of large objects. Requires a tmpfs at
  /// `directory` mounted with huge=advise, within_size or always (`object_store::notice` says if it is not). The first
  /// opener decides.
  bool huge_pages = false;

  /// Whether open() fails with `not_found` if no process has the store open, instead of creating it. A process that
  /// already has the store open gets it whatever its other options are.
  bool must_exist = false;

  /// How often one of the attached processes, whichever is first, looks for killed processes and cleans up after them.
  /// Calls that need room do not wait for that. 0: this process does so only if it needs room or `object_store::reap`
  /// is called.
  std::chrono::milliseconds reap_interval{1000};

  /// How long `create` and `put`, and a pin that restores an object, wait for room once nothing can be spilled and
  /// nothing is being spilled. Waiting calls are served in order of arrival. Raising it gives other holders time to
  /// release objects; lowering it reports failure sooner. 0: calls do not wait, and `create` and `put` spill nothing
  /// themselves.
  std::chrono::milliseconds full_grace{1000};
};

} // namespace troupe::store
