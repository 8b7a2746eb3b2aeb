// How a store is opened.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace troupe::store {

/// Processes of one user that open the same `directory` and `name` share one store. The first opener decides
/// `capacity_bytes`, `objects_max`, `spill_directory` and `huge_pages`. If a later opener sets one of these to another
/// value than its default, that value must be the first opener's. A further open() in one process must also agree in
/// the times and in `pretouch_bytes`. Otherwise open() fails with `options_differ`. A time below 0 is
/// `invalid_argument`; a time of more than 24 hours counts as 24 hours.
struct options {
  /// 1 to 64 characters of `[A-Za-z0-9_-]`.
  std::string name = "default";

  /// Memory for objects, rounded up to 4 KiB; at most 64 TiB. 0: the existing store's value, or the smallest of 30 % of
  /// the machine's memory, 90 % of the free space in `directory` and half of what the process's cgroup may still take.
  /// Pages are taken when they are first needed and stay taken until the store is gone. If there
  /// is a `spill_directory`, the objects lie there in two cases (`object_store::notice` then says so): `directory` has
  /// less free space than a capacity given here, or its free space would limit the default to less than 128 MiB.
  std::size_t capacity_bytes = 0;

  /// Rows of the object table, at most 2,097,152. 0: the existing store's value, or 1,048,576. A row takes about 250
  /// bytes once used.
  std::uint32_t objects_max = 0;

  /// How long a call waits for the table's lock before it fails with `store_errc::busy`. The lock is normally held for
  /// microseconds, so a long wait means that its owner is stopped. A longer timeout hides a stopped owner for longer. A
  /// shorter one may mistake a busy machine for a stopped owner.
  std::chrono::milliseconds lock_timeout{5000};

  /// Folder of the shared files. A file system other than tmpfs works if it supports fallocate, but is slow.
  std::filesystem::path directory = "/dev/shm";

  /// Absolute path of a folder for spilled objects, at most 4,095 bytes; created if missing. When more than 80 % of the
  /// memory is in use, objects are spilled there, least recently used first. A thread of each process spills ahead of
  /// need. Empty: the first opener's choice, or no spilling. The folder must be on a disk of this host, because files
  /// left by dead processes are removed. Stores that differ in name, user or `directory` may share it.
  std::filesystem::path spill_directory{};

  /// How many bytes beyond the memory in use each process touches in advance, in the background. The first use of such
  /// memory is at least four times as fast as that of untouched memory. A larger value serves longer bursts of large
  /// objects. A smaller one takes less memory before it is needed. 0: none.
  std::size_t pretouch_bytes = 0;

  /// Whether to request huge pages, which speed up the first read and write of large objects. Requires a tmpfs at
  /// `directory` mounted with huge=advise, within_size or always (`object_store::notice` says if it is not).
  bool huge_pages = false;

  /// Whether open() fails with `not_found` if no process has the store open, instead of creating it. If this process
  /// already has the store open, open() ignores this option and returns that store.
  bool must_exist = false;

  /// Whether open() fails with `layout_mismatch` if processes of this user have a store of this name open in another
  /// layout version, as during an upgrade of Troupe. By default, each layout version has a store of its own: they share
  /// no objects, and both take memory (`object_store::notice` then says so). Checked when this process first opens the
  /// store; a further open() returns the open store and ignores this option.
  bool require_layout = false;

  /// The interval at which one of the attached processes looks for killed processes and cleans up after them. Calls
  /// that need room do not wait for that. 0: this process does not look in the background, but only in calls such as
  /// `object_store::open`, `summary`, `reap`, `wait_until` and those that need room.
  std::chrono::milliseconds reap_interval{1000};

  /// How long `create`, `put`, and a pin that restores an object wait for room when nothing can be spilled and nothing
  /// is being spilled. Waiting calls are served in order of arrival. A longer time lets other holders release objects.
  /// A shorter one reports the failure sooner. 0: these calls do not wait, and `create` and `put` spill nothing
  /// themselves.
  std::chrono::milliseconds full_grace{1000};
};

} // namespace troupe::store
