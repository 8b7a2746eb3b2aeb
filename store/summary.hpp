// The contents of a store and the holders of its objects.
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

/// The states of an object; store/format.md has their diagram. Stored in shared memory: append only.
enum class object_state : std::uint8_t {
  free = 0,
  writing = 1,   // A builder writes the object.
  sealed = 2,    // Immutable, in memory.
  aborted = 3,   // The builder was dropped; free once reclaimed.
  spilling = 4,  // In memory, being copied to disk.
  spilled = 5,   // On disk only.
  restoring = 6, // On disk, being copied back.
  evicting = 7,  // Copied to disk; the memory is about to be freed, unless a process pins the object meanwhile.
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

/// Handles to one object in flight between two processes.
struct in_flight_row {
  pid_t from = 0; // May be dead.
  pid_t to = 0;
  std::uint64_t channel = 0;
  std::uint32_t count = 0;
};

/// One object and everything that keeps it alive.
struct object_row {
  object_id id;
  std::size_t size_bytes = 0; // Without the metadata.
  std::size_t metadata_bytes = 0;
  object_state state = object_state::free;
  bool has_own_file = false; // Larger than the store: lies in its own file in the spill directory and is read there.
  pid_t creator = 0;         // May be dead.
  std::chrono::nanoseconds age{0};    // Exact to a few milliseconds.
  std::string call_site;              // "file:line" if the creator had TROUPE_RECORD_CALL_SITES=1; else empty.
  std::vector<pid_t> holders;         // Processes with a handle, pin or builder.
  std::vector<pid_t> pinned_by;       // The holders with a pin.
  std::uint32_t own_handles = 0;      // Handles and builders of the calling process; 0 if it is not attached.
  std::uint32_t own_pins = 0;         // Pins of the calling process; the handle inside each pin is not in own_handles.
  hold_counts own_holds;              // The reasons of both; the sums are equal unless the counts change meanwhile.
  std::vector<object_id> captures;    // In the order in which the creator gave them.
  std::vector<object_id> captured_by; // Objects that capture this one.
  std::vector<in_flight_row> in_flight;
};

/// A snapshot of a store. Rows are collected in batches, so totals and rows may differ a little while other threads and
/// processes change the store. Totals of bytes include metadata, with payload and metadata each rounded up to 64.
struct store_summary {
  std::string name;
  std::uint64_t number = 0; // object_store::number().
  std::size_t capacity_bytes = 0;
  std::size_t bytes_in_use = 0;
  std::size_t high_water_bytes = 0; // Maximum of bytes_in_use since the store was created.
  std::size_t committed_bytes = 0;  // Memory taken from the system so far; the last close returns it.
  std::size_t objects = 0;
  std::size_t spilled_objects = 0;       // Objects on disk only.
  std::size_t spilled_bytes = 0;         // The bytes of these objects.
  std::size_t spill_files = 0;           // Spill files with objects or copies of objects.
  std::size_t disk_bytes = 0;            // Size of these files, including dead bytes.
  std::filesystem::path spill_directory; // Empty: no spilling.
  std::size_t waiting = 0;               // Calls that wait for room.
  std::vector<pid_t> processes;          // Attached processes, including dead ones that are not reaped yet.
  std::vector<object_row> rows;
  std::size_t rows_left_off = 0;  // Rows beyond summary_query::rows_max: the smallest objects.
  std::size_t bytes_left_off = 0; // Sum of object_row::size_bytes of these rows.
};

/// Chooses the rows of a summary. `rows_max` bounds its memory.
struct summary_query {
  std::size_t rows_max = SIZE_MAX; // If there are more rows, those of the largest objects are listed.
  bool only_own = false;           // Only objects that this process holds.
};

} // namespace troupe::store
