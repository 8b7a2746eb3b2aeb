// Named places between the steps of every mutation, at which a test can make the process kill itself. A point that is
// not armed costs one load of a flag.
//
// A crash point is also a compiler fence: stores before the point are made before stores after it. Therefore a SIGKILL
// finds memory in the order of the source.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>

namespace troupe::store::internal {

enum class crash_point : std::uint8_t {
  open_locked,         // The open lock is held, nothing is inspected yet.
  open_swept,          // Leftovers of dead processes are gone.
  open_data_linked,    // The data file is in place, the control file is not.
  open_control_linked, // Both are in place, no process is attached.
  open_slot_locked,    // The slot's byte is locked, the slot is still free.
  open_slot_filled,    // Nonce and pid are written, the slot is still free.
  open_slot_attached,  // Attached, the open lock still held.
  create_extent_taken, // Bytes are allocated, no row says so.
  create_row_filled,   // The row is filled, its state is still free.
  create_edge_filled,  // An edge's fields are written, its generation is still 0. Once per captured id.
  create_edge_counted, // Its generation is written, the chain does not know it. Once per captured id.
  create_edge_written, // Once per captured id.
  origin_filled,       // The object's origin is written, the generation there is still 0.
  origin_given,        // The generation is written, the chain does not know it.
  create_published,    // State writing; the table's lock still held.
  create_committed,    // Pages are there; metadata is not copied.
  create_finished,     // The builder is about to be given out.
  capture_finished,    // Ids captured later have their edges; the table's lock still held.
  seal_shrunk,         // The smaller size is written, the tail not yet free.
  seal_tail_returned,  // The tail is free.
  seal_published,      // State sealed.
  abort_marked,        // State aborted, the hold still there.
  find_held,           // The hold is counted; the table's lock still held.
  pin_marked,          // The pin bit is set.
  unpin_cleared,       // The pin bit is clear.
  release_cleared,     // The holder bit is clear, no hint given.
  release_hinted,      // The hint is given, nothing reclaimed.
  free_marked,         // State free; edges, extent and row not yet returned.
  free_edge_dropped,   // Once per captured id.
  origin_dropped,      // The object's origin is free, its chain does not know it.
  free_extent_returned,
  free_finished,
  flight_filled,      // The entry is written, its count still 0.
  flight_counted,     // The count is 1, the chain does not know it.
  flight_added,       // All done; the table's lock still held.
  adopt_held,         // The receiver's holder bit is set, the entry still counted.
  adopt_uncounted,    // The entry's count is down.
  flight_dropped,     // An entry's count is 0, it is still chained.
  spill_begun,        // State spilling; the lock still held. Once per object.
  spill_file_filled,  // The file's row is filled, its state still free.
  spill_file_taken,   // State writing; there is no file yet.
  spill_file_written, // All bytes are in the file; no object knows it.
  spill_placed,       // The place on disk is written, the state still spilling.
  spill_evicting,     // State evicting; pins are not checked yet.
  spill_evicted,      // State spilled; its extent is not free yet.
  spill_finished,
  spill_file_complete,
  restore_placed,    // The new offset is written, the state still spilled.
  restore_begun,     // State restoring.
  restore_read,      // The bytes are back in memory, the state still restoring.
  restore_published, // State sealed; the file still counts the object.
  restore_finished,
  spill_file_removing, // State removing; the file is still there.
  spill_file_unlinked, // The file is gone, its row is not.
  spill_file_removed,
  own_file_given, // An object has its own file, which does not exist yet; the object's state is still free.
  own_file_made,  // That file exists; the builder is about to be given out.
  waiter_filled,  // The row is filled, its ticket still 0.
  waiter_added,
  waiter_removed,
  pages_taken,     // Parts of the data file have pages; not recorded yet.
  reap_marked,     // A dead process's slot is in state reaping.
  reap_batch_done, // Once per batch of rows.
  reap_flights_dropped,
  reap_slot_freed,
  recover_started,
  recover_extents_built,
  recover_rows_built,
  recover_finished, // Rebuilt, the mutex not yet consistent.
  close_marked,     // No process hands over to this one any more; handles in flight to it are still there.
  close_slot_freed, // Detached, files still there.
  close_control_removed,
  close_data_removed,
  close_lock_removed,
};

// clang-format off
inline constexpr std::array crash_point_names{
    "open_locked",         "open_swept",            "open_data_linked",      "open_control_linked",
    "open_slot_locked",    "open_slot_filled",      "open_slot_attached",    "create_extent_taken",
    "create_row_filled",   "create_edge_filled",    "create_edge_counted",   "create_edge_written",
    "origin_filled",       "origin_given",          "create_published",      "create_committed",
    "create_finished",     "capture_finished",      "seal_shrunk",           "seal_tail_returned",
    "seal_published",      "abort_marked",          "find_held",             "pin_marked",
    "unpin_cleared",       "release_cleared",       "release_hinted",        "free_marked",
    "free_edge_dropped",   "origin_dropped",        "free_extent_returned",  "free_finished",
    "flight_filled",       "flight_counted",        "flight_added",          "adopt_held",
    "adopt_uncounted",     "flight_dropped",        "spill_begun",           "spill_file_filled",
    "spill_file_taken",    "spill_file_written",    "spill_placed",          "spill_evicting",
    "spill_evicted",       "spill_finished",        "spill_file_complete",   "restore_placed",
    "restore_begun",       "restore_read",          "restore_published",     "restore_finished",
    "spill_file_removing", "spill_file_unlinked",   "spill_file_removed",    "own_file_given",
    "own_file_made",       "waiter_filled",         "waiter_added",          "waiter_removed",
    "pages_taken",         "reap_marked",           "reap_batch_done",       "reap_flights_dropped",
    "reap_slot_freed",     "recover_started",       "recover_extents_built", "recover_rows_built",
    "recover_finished",    "close_marked",          "close_slot_freed",      "close_control_removed",
    "close_data_removed",  "close_lock_removed",
};
// clang-format on
static_assert(crash_point_names.size() == static_cast<std::size_t>(crash_point::close_lock_removed) + 1);

[[nodiscard]] constexpr std::string_view to_string(crash_point point) {
  return crash_point_names[static_cast<std::size_t>(point)];
}

enum class crash_action : std::uint8_t {
  kill,              // SIGKILL to this process.
  stop,              // SIGSTOP to this process.
  run_out_of_memory, // Throws std::bad_alloc; only for points in functions that may throw it.
};

/// Makes this process kill itself (or take another action) when it reaches `point` for the `nth` time from now (1 is
/// the next).
void arm_crash_point(crash_point point, std::uint32_t nth = 1, crash_action action = crash_action::kill);
void disarm_crash_points();

/// Arms the point that TROUPE_STORE_CRASH_POINT names, such as "create_published" or "create_published:3". Every open
/// calls it.
void arm_crash_points_from_environment();

extern std::atomic<bool> crash_points_armed;
void crash_point_reached(crash_point point);

inline void reach(crash_point point) {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (crash_points_armed.load(std::memory_order_relaxed)) [[unlikely]]
    crash_point_reached(point);
}

} // namespace troupe::store::internal
