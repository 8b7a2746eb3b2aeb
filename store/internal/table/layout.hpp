// The contents of the control file, byte for byte. store/format.md documents them: change both together, and
// layout_version.
//
// All references are indexes or self-relative pointers, because each process maps the file at another address. "Truth"
// must be readable after a crash. "Derived" data is rebuilt from the truth by recover().
#pragma once

#include <troupe/store/summary.hpp>

#include <boost/interprocess/offset_ptr.hpp>
#include <pthread.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace troupe::store::internal {

inline constexpr std::array<char, 8> layout_magic{'T', 'r', 'o', 'u', 'p', 'e', 'S', '\n'};
inline constexpr std::uint32_t layout_version = 5;

inline constexpr std::uint32_t slots_max = 256;
inline constexpr std::uint32_t objects_default = 1u << 20;
inline constexpr std::uint32_t objects_limit = 1u << 21; // 8 top words of hints, of 64 * 64 * 64 rows each.
inline constexpr std::uint32_t edges_max = 1u << 20;
inline constexpr std::uint32_t captured_max = 1024; // Per object: all are looked up and released under the lock.
inline constexpr std::uint32_t flights_max = 1u << 16;
inline constexpr std::uint32_t waiters_max = 1u << 12;
inline constexpr std::uint32_t spill_files_max = 1u << 16;
inline constexpr std::uint32_t call_sites_max = 1u << 12;
inline constexpr std::uint32_t origins_max = 1u << 16;
inline constexpr std::uint32_t origin_buckets = 1u << 14;

inline constexpr std::size_t alignment_bytes = 64;         // Of metadata, payload and extents.
inline constexpr std::size_t page_bytes = 4096;            // Smallest unit of every file's size.
inline constexpr std::size_t data_step_bytes = 256u << 10; // The data file gets pages in steps of this size.
inline constexpr std::uint32_t no_row = 0xffffffff;        // "None" for every kind of index.
inline constexpr std::uint32_t no_slot = 0xffffffff;
inline constexpr std::uint32_t generation_max = 0xffffffff; // Generation of a row's last object.

// These atomics are shared between processes. An atomic that needs a lock works only within one process.
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

/// One bit per process slot.
using slot_bits = std::array<std::atomic<std::uint64_t>, slots_max / 64>;

/// A table that grows. Rows below `committed` have pages; rows below `used` have been taken at least once.
struct growing_table {
  std::uint64_t file_offset;
  std::uint32_t row_bytes;
  std::uint32_t rows_max;
  std::uint32_t step;
  std::atomic<std::uint32_t> committed;
  std::uint32_t used;       // Truth, under the lock.
  std::uint32_t first_free; // Derived: chain of free rows below `used`.
  std::uint32_t free_rows;  // Derived: length of that chain.
};

enum class slot_state : std::uint32_t {
  free = 0,
  attached = 1,
  reaping = 2, // Dead or leaving: no process hands anything over to it.
};

/// One attached process. Claimed under the open lock, freed under the table's lock.
struct alignas(64) process_slot {
  std::atomic<slot_state> state;
  std::atomic<std::uint32_t> pid;
  std::atomic<std::uint64_t> nonce;
};

/// One object: a row of the table.
struct alignas(64) object_row_entry {
  // Truth.
  std::atomic<std::uint32_t> generation; // Of the current object, or of the last one.
  std::atomic<object_state> state;
  std::uint8_t place; // 0: the data file, or a spill file; 1: a spill file of its own from the beginning.
  std::uint16_t creator_slot;
  std::uint64_t offset;                  // Of the extent in the data file: metadata, then payload.
  std::atomic<std::uint64_t> size_bytes; // Payload. The extent's length follows from it and metadata_bytes.
  std::uint32_t metadata_bytes;
  std::uint32_t creator_pid;
  slot_bits holders;                     // Set under the lock, cleared without.
  slot_bits pinners;                     // Subset of holders; set and cleared without the lock.
  std::int64_t created_ns;               // CLOCK_MONOTONIC_COARSE.
  std::atomic<std::uint64_t> last_used;  // Number of the last use, by which recover() orders the objects.
  std::uint32_t call_site;               // Row of its creator's place in the call site table, plus 1; 0: not known.
  std::atomic<std::uint32_t> spill_file; // Row of the file that has a copy, written last; no_row: no copy.
  std::uint64_t spill_offset;            // Position of the extent in that file.
  std::uint32_t spill_checksum;    // CRC32C of the extent. While the object is being written: see note_progress().
  std::uint16_t worker_slot;       // The process that spills or restores the object.
  std::atomic<std::uint16_t> used; // Not 0: pinned since the last look, so that it is spilled later.
  slot_bits outside_pinners;       // Reserved: pins outside the local counts, such as a device's.
  // Derived.
  std::atomic<std::uint32_t> captured_by;  // Number of edges that point here.
  std::atomic<std::uint32_t> first_flight; // Chain of entries in flight.
  std::uint32_t first_edge;                // Chain of edges that start here.
  std::uint32_t origin_or_next_free;       // While the object lives, its row in the table of origins, or no_row.
  std::uint32_t lru_before, lru_after;     // List of objects in memory, least recently used first.
};
static_assert(sizeof(object_row_entry) == 192);

/// One captured id: the object `outer` keeps the object `inner` alive. Valid while the outer row holds that generation.
struct capture_edge {
  // Truth.
  std::uint32_t outer_index;
  std::atomic<std::uint32_t> outer_generation; // Written last; 0: a free edge.
  std::uint32_t inner_index;
  std::uint32_t inner_generation;
  std::uint32_t position; // Index among the outer object's edges, in the order given: 0, 1, ...
  // Derived: the outer object's next edge, in no order, or the next free edge.
  std::uint32_t next;
};
static_assert(sizeof(capture_edge) == 24);

/// The origin of an object. Valid while the row `index` holds that generation and is not free.
struct origin_entry {
  // Truth.
  std::uint64_t high, low;
  std::uint32_t index;
  std::atomic<std::uint32_t> generation; // Written last; 0: a free entry.
  // Derived: the next entry in the same bucket, or the next free entry.
  std::uint32_t next;
  std::uint32_t reserved;
};
static_assert(sizeof(origin_entry) == 32);

/// Handles to one object in flight from one process to another.
struct alignas(64) flight_entry {
  // Truth.
  std::atomic<std::uint32_t> count; // Written last; 0: a free entry.
  std::uint32_t index;
  std::uint32_t generation;
  std::uint32_t from_slot;
  std::uint32_t to_slot;
  std::uint32_t from_pid; // For the summary, since the sender may be gone.
  std::uint64_t from_nonce;
  std::uint64_t to_nonce;
  std::uint64_t channel;
  // Derived: the object's next entry, or the next free entry.
  std::uint32_t next;
};
static_assert(sizeof(flight_entry) == 64);

/// One caller that waits for room.
struct waiter_entry {
  // Truth.
  std::atomic<std::uint64_t> ticket; // Written last; 0: a free entry. The lowest ticket is served first.
  std::uint64_t nonce;
  std::uint64_t size_bytes;
  // CLOCK_MONOTONIC. A waiter that is stopped beyond this time delays no other waiter. 0: given up, which needs no
  // lock.
  std::atomic<std::int64_t> expires_ns;
  std::uint32_t slot;
  // Derived.
  std::uint32_t next_free;
};
static_assert(sizeof(waiter_entry) == 40);

enum class spill_file_state : std::uint32_t {
  free = 0,
  writing = 1,  // Its worker writes the file; it has no objects yet, and the size is the planned one.
  complete = 2, // Read only.
  removing = 3, // The file has no objects, and never will.
};

/// A file of spilled objects. Its name contains row and generation, so that a late removal never hits a newer file.
struct alignas(64) spill_file_entry {
  // Truth.
  std::atomic<spill_file_state> state;
  std::uint32_t generation;
  std::uint64_t size_bytes;
  std::uint64_t worker_nonce; // While writing or removing: of the worker.
  std::uint32_t worker_slot;
  // Derived.
  std::uint32_t next_free;
  std::uint32_t live_objects; // Objects with a copy in the file, including those in memory.
  std::uint32_t reserved;
  std::uint64_t live_bytes;
};
static_assert(sizeof(spill_file_entry) == 64);

/// A place in a program that creates objects: zero-terminated text. Written before the row counts as used, and never
/// changed.
struct call_site_entry {
  std::array<char, 256> text;
};

/// A free piece of the data file: a node of a tree ordered by offset, with the longest piece on top. Derived.
struct extent_node {
  boost::interprocess::offset_ptr<extent_node> parent, left, right;
  std::uint64_t offset;
  std::uint64_t length;
  std::uint32_t next_free;
  std::uint32_t reserved;
};
static_assert(sizeof(extent_node) == 48);

/// First bytes of the control file. Fields before `lock` are written once, before the file gets its name.
struct control_header {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t header_bytes; // sizeof, to detect a compiler with another layout.
  std::uint64_t page_size;
  std::uint64_t pid_namespace; // Inode of /proc/self/ns/pid: robust mutexes hold thread ids of one namespace.
  std::uint64_t store_number;
  std::uint64_t capacity_bytes;
  std::uint64_t control_bytes;
  std::uint64_t hints_offset;
  std::uint64_t nodes_offset;
  std::uint64_t origin_buckets_offset;  // The first row of each bucket, or no_row. Derived.
  std::uint64_t origin_factor;          // Odd, random and secret, so that no peer can choose origins of one bucket.
  std::uint64_t spill_directory_offset; // Of the absolute path, zero-terminated; empty: no spilling.
  std::uint64_t data_on_disk;           // Not 0: the data file lies in the spill directory for lack of memory.

  // The table's lock and its holder.
  alignas(64) pthread_mutex_t lock;
  std::atomic<std::uint32_t> lock_owner;      // Slot, or no_slot.
  std::atomic<std::uint32_t> rebuild_wanted;  // Not 0: recover() ran out of memory.
  std::atomic<std::uint32_t> lock_waiting;    // Waiters for the lock, including those killed while waiting.
  std::atomic<std::uint32_t> lock_left_until; // Truncated clock in ms: until then, newcomers hold back for a waiter
                                              // that has waited long. 0: none.

  // Changed by any process, without the lock.
  alignas(64) std::atomic<std::uint64_t> data_committed; // All bytes of the data file below it have pages.
  std::atomic<std::uint32_t> changes;                    // Futex of the waiters for objects and for room.
  std::atomic<std::uint32_t> waiting;                    // Not 0: there may be such a waiter.

  // Changed under the lock.
  alignas(64) growing_table objects;
  growing_table edges;
  growing_table flights;
  std::uint64_t bytes_in_use;     // Derived.
  std::uint64_t high_water_bytes; // Truth of its own: it only grows.
  std::uint64_t live_objects;     // Derived.
  // Derived: the free extents. All bytes from `data_top` on are free and in no node.
  std::uint64_t data_top;
  extent_node extents; // Header node of the tree.
  std::uint32_t nodes_used;
  std::uint32_t first_free_node;
  std::uint64_t spilled_bytes;       // Derived: extents of spilled objects, including those being restored.
  std::uint64_t spilled_objects;     // Derived.
  std::uint32_t lru_first, lru_last; // Derived: ends of the list through lru_before and lru_after.
  std::uint64_t next_ticket;         // Truth.
  std::atomic<std::uint32_t> spill_files_to_remove; // Not 0: there may be a file without objects.
  std::atomic<std::uint32_t> reap_wanted; // Not 0: a process died with the lock, and no process has reaped since.
  std::int64_t spilling_ended_ns;         // Last write to disk; restarts the grace of all waiters.
  growing_table waiters;
  growing_table spill_files;
  growing_table call_sites;                   // Rows are never given back.
  std::atomic<std::uint64_t> uses;            // Number of the last use of any object. Written under the lock.
  std::int64_t spilling_failed_ns;            // Last failed write to disk; 0: never.
  std::uint64_t huge_pages;                   // Not 0: huge pages are requested. Written before the file gets its name.
  std::atomic<std::int64_t> looked_ns;        // Last background look for dead processes.
  std::atomic<std::int64_t> waiter_looked_ns; // Last look for dead processes by a waiter.
  growing_table origins;
  std::array<std::uint64_t, 4> secret; // Random: known only to processes with the store open.
  std::array<std::uint64_t, 18> reserved;

  alignas(64) std::array<process_slot, slots_max> slots;
};

/// Hints at rows that may have become free, in three levels of bits, so that a hinted row is found quickly.
struct hint_words {
  std::atomic<std::uint64_t> any; // Not 0: there may be a hint.
  std::array<std::atomic<std::uint64_t>, objects_limit / 64 / 64 / 64> top;
  std::array<std::atomic<std::uint64_t>, objects_limit / 64 / 64> middle;
  std::array<std::atomic<std::uint64_t>, objects_limit / 64> leaf;
};

[[nodiscard]] constexpr std::uint64_t round_up(std::uint64_t number, std::uint64_t step) {
  return (number + step - 1) / step * step;
}

/// Length of the extent of an object of these sizes.
[[nodiscard]] constexpr std::uint64_t extent_length(std::uint64_t size_bytes, std::uint64_t metadata_bytes) {
  return round_up(metadata_bytes, alignment_bytes) + round_up(size_bytes, alignment_bytes);
}

} // namespace troupe::store::internal
