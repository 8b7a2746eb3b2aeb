// What is in a store, and why.
#pragma once

#include <troupe/store/hold_reason.hpp>
#include <troupe/store/object_id.hpp>

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::store {

/// Life of an object; the picture stands in store/format.md. Stored in shared memory: append only.
enum class object_state : std::uint8_t {
  free = 0,
  writing = 1,   // A builder writes it.
  sealed = 2,    // Immutable, in memory.
  aborted = 3,   // Its builder was dropped; free as soon as somebody reclaims.
  spilling = 4,  // In memory, being copied to disk.
  spilled = 5,   // On disk only.
  restoring = 6, // On disk, being copied back.
  evicting = 7,  // Copied to disk; its room in memory is about to be free, unless somebody has pinned it meanwhile.
};

[[nodiscard]] constexpr std::string_view to_string(object_state state) {
  switch (state) {
  case object_state::free:
    return "free";
  case object_state::writing:
    return "writing";
  case object_state::sealed:
    return "sealed";
  case object_state::aborted:
    return "aborted";
  case object_state::spilling:
    return "spilling";
  case object_state::spilled:
    return "spilled";
  case object_state::restoring:
    return "restoring";
  case object_state::evicting:
    return "evicting";
  }
  return "unknown";
}

/// Handles on their way between two processes.
struct in_flight_row {
  pid_t from = 0; // May be dead already.
  pid_t to = 0;
  std::uint64_t channel = 0;
  std::uint32_t count = 0;
};

/// One object and everything that keeps it.
struct object_row {
  object_id id;
  std::size_t size_bytes = 0;
  std::size_t metadata_bytes = 0;
  object_state state = object_state::free;
  bool has_own_file = false; // Larger than the store: it lies in a file in the spill directory, and is read there.
  pid_t creator = 0;         // May be gone already.
  std::chrono::nanoseconds age{0};
  std::string call_site;           // "file:line", where TROUPE_RECORD_CALL_SITES=1 was set in its creator; else empty.
  std::vector<pid_t> holders;      // Processes with a handle, pin or builder.
  std::vector<pid_t> pinned_by;    // Those of them with a pin.
  std::uint32_t own_handles = 0;   // Of the process that asks: handles and builders ...
  std::uint32_t own_pins = 0;      // ... and pins, apart from the handle in each. 0 where it is not attached.
  hold_counts own_holds;           // What both are for: their sum is that of the two, while nobody changes them.
  std::vector<object_id> captures; // In the order in which they were given.
  std::vector<object_id> captured_by;
  std::vector<in_flight_row> in_flight;
};

/// A moment's view; rows are collected in batches, so that with writers at work the totals and the rows may differ a
/// little. Bytes count metadata and rounding to 64.
struct store_summary {
  std::string name;
  std::uint64_t number = 0;
  std::size_t capacity_bytes = 0;
  std::size_t bytes_in_use = 0;
  std::size_t high_water_bytes = 0; // Most bytes in use since the store was made.
  std::size_t committed_bytes = 0;  // Memory taken from the system so far; it comes back with the last close.
  std::size_t objects = 0;
  std::size_t spilled_objects = 0;       // Of them, those that lie on disk ...
  std::size_t spilled_bytes = 0;         // ... with so many bytes ...
  std::size_t spill_files = 0;           // ... in so many files ...
  std::size_t disk_bytes = 0;            // ... that take so much there, with what is dead in them.
  std::filesystem::path spill_directory; // Empty: nothing is spilled.
  std::size_t waiting = 0;               // Who waits for room.
  std::vector<pid_t> processes;          // Attached ones.
  std::vector<object_row> rows;
  std::size_t rows_left_off = 0; // Beyond summary_query::rows_max: the smallest.
  std::size_t bytes_left_off = 0;
};

/// What is told of single objects. The memory that it takes is bounded by `rows_max`.
struct summary_query {
  std::size_t rows_max = SIZE_MAX; // The largest come first where there are more.
  bool only_own = false;           // Only objects that this process holds.
};

} // namespace troupe::store
