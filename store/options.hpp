// How a store is opened.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace troupe::store {

/// Processes of one user that give the same directory and name share one store. Who opens it first decides its
/// capacity and object count; 0 means "whatever it has, or the default".
struct options {
  /// 1 to 64 characters of `[A-Za-z0-9_-]`.
  std::string name = "default";

  /// Room for objects. Default: the least of 30 % of the memory, 90 % of what is free in `directory` and half of what
  /// the process's cgroup may still take. Pages are taken when room is first made there, and stay taken until the store
  /// is gone. Where `directory` has no such room and there is a `spill_directory`, the objects lie there
  /// (`object_store::notice` then says so).
  std::size_t capacity_bytes = 0;

  /// Rows of the object table. Default: 1,048,576; at most 2,097,152. A row takes about 250 bytes once used.
  std::uint32_t objects_max = 0;

  /// How long a call waits for the table's lock before it fails with `store_errc::busy`. The lock is held for
  /// microseconds, so a long wait means that its owner was stopped. Longer hides such an owner, shorter
  /// mistakes a busy machine for one.
  std::chrono::milliseconds lock_timeout{5000};

  /// Where the shared files lie. Anything but a tmpfs works and is slow.
  std::filesystem::path directory = "/dev/shm";

  /// Where objects go that nobody reads at the moment, the longest unused first, when memory is more than 80 % full;
  /// an absolute path, made where it is missing. The first opener decides; empty: where it did, or nowhere. A thread of
  /// each process does that ahead of need. Must be a disk of this host: what processes that are gone left there is
  /// removed. Stores of several names, users and `directory`s may share one.
  std::filesystem::path spill_directory{};

  /// How much memory beyond what was ever used each process has made ready in the background, so that the first use of
  /// it is as quick as the second: four times and more. More: longer bursts of large objects find it ready; less: less
  /// memory is taken before it is needed. 0: none.
  std::size_t pretouch_bytes = 0;

  /// Whether to ask for huge pages, which make large objects quicker to read and to write for the first time. Works
  /// where the tmpfs at `directory` is mounted with huge=advise, within_size or always (`object_store::notice` says
  /// when it is not). Who opens the store first decides.
  bool huge_pages = false;

  /// Whether opening fails with `not_found` where no process has the store open, instead of making one. Who has it open
  /// already gets it whatever the other options say.
  bool must_exist = false;

  /// How often somebody looks for processes that were killed, and clears up after them: one of those attached,
  /// whichever comes first. What needs room does not wait for that. 0: this process does so only when it needs room, or
  /// is asked to (`object_store::reap`).
  std::chrono::milliseconds reap_interval{1000};

  /// How long `create` and `put` wait for room, and a pin for the room to bring an object back, from when nothing is
  /// left that could be spilled, nor is being spilled; in the order of their coming. Longer: others may let something
  /// go; shorter: who cannot be served knows it sooner. 0: they do not wait, and
  /// `create` and `put` spill nothing themselves.
  std::chrono::milliseconds full_grace{1000};
};

} // namespace troupe::store
