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

  /// Room for objects. Default: the smaller of 30 % of the memory and 90 % of what is free in `directory`. Pages are
  /// taken only when they are first used, and stay taken until the store is gone.
  std::size_t capacity_bytes = 0;

  /// Rows of the object table. Default: 1,048,576; at most 2,097,152. A row takes about 250 bytes once used.
  std::uint32_t objects_max = 0;

  /// How long a call waits for the table's lock before it fails with `store_errc::busy`. The lock is held for
  /// microseconds, so a long wait means that its owner was stopped. Longer hides such an owner, shorter
  /// mistakes a busy machine for one.
  std::chrono::milliseconds lock_timeout{5000};

  /// Where the shared files lie. Anything but a tmpfs works and is slow.
  std::filesystem::path directory = "/dev/shm";

  /// Where objects will go when memory is full. Not used yet.
  std::filesystem::path spill_directory{};
};

} // namespace troupe::store
