// Moving objects from memory to disk.
#pragma once

#include <troupe/store/internal/attachment/change_signal.hpp>
#include <troupe/store/internal/attachment/half_done_moves.hpp>
#include <troupe/store/internal/attachment/object_memory.hpp>
#include <troupe/store/internal/attachment/spill_file_removal.hpp>
#include <troupe/store/internal/attachment/table_access.hpp>
#include <troupe/store/internal/attachment/table_growth.hpp>
#include <troupe/store/internal/spill/disk_queue.hpp>
#include <troupe/store/internal/spill/spill_directory.hpp>
#include <troupe/store/store_error.hpp>

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <vector>

namespace troupe::store::internal {

inline constexpr std::int64_t no_end = INT64_MAX;

/// Moves objects to disk. The lock is held to choose the objects and to record the result, but never while bytes move.
///
/// Threads: any. One thread at a time writes.
class spiller {
public:
  struct needs {
    const process_id& self;
    const table_access& access;
    const object_memory& memory;
    const spill_directory& files;
    table_growth& growth;
    half_done_moves& half_done;
    spill_file_removal& removal;
    change_signal& changes;
  };
  spiller(control_view view, const needs& uses) : view_(view), uses_(uses) {}

  [[nodiscard]] bool has_disk() const { return uses_.files.is_there(); }

  enum class search : std::uint8_t { some, all }; // some: give up if the first few objects cannot be spilled.

  /// Frees about `wanted_bytes` by spilling. Returns the bytes freed; 0 if nothing can be spilled. Waits for a full or
  /// failing disk until `until_ns` at most. Then evicts objects that have a copy on disk. With search::all, which
  /// callers without room use, evicts long-unused objects with a copy first, because that needs no write.
  [[nodiscard]] std::expected<std::uint64_t, store_error> spill(std::uint64_t wanted_bytes, search among,
                                                                std::int64_t until_ns);

  /// Spills the bytes above the fill level that is kept ahead of need.
  void spill_ahead();

private:
  [[nodiscard]] std::uint64_t bytes_to_spill_ahead() const;
  [[nodiscard]] std::expected<std::uint64_t, store_error> spill_by_writing(std::uint64_t wanted_bytes, search among,
                                                                           std::int64_t until_ns);
  [[nodiscard]] std::expected<std::uint64_t, store_error> evict_copied(std::uint64_t wanted_bytes, search among);

  struct batch {
    std::uint32_t file = no_row;
    std::vector<std::uint32_t> objects; // Objects to write to `file`.
    std::uint64_t evicted_bytes = 0;    // Freed at once by evicting other objects.
  };
  [[nodiscard]] std::expected<batch, store_error> choose_batch(std::uint64_t wanted_bytes,
                                                               std::uint64_t& calls_for_all);
  [[nodiscard]] object_table::victims begin_batch(table_held held, std::uint64_t wanted_bytes, batch& begun,
                                                  outcome& what);
  [[nodiscard]] std::expected<std::uint64_t, store_error>
  spill_batch(std::uint64_t wanted_bytes, std::uint64_t& calls_for_all, const disk_pause& pause);
  [[nodiscard]] std::expected<std::vector<spill_place>, store_error> write_batch(const batch& begun,
                                                                                 const disk_pause& pause) const;
  [[nodiscard]] std::expected<std::uint64_t, store_error> end_batch(const batch& begun,
                                                                    std::span<const spill_place> places);

  control_view view_;
  const needs uses_;
  disk_queue queue_; // Lets one thread of this process write at a time.
  // Guarded by the queue's turn. After a failure, the disk is not used for a while.
  struct failure {
    store_error why;
    std::int64_t again_ns = 0;
    std::int64_t again_with_time_ns = 0; // For callers that have time: sooner if the write failed for lack of it.
  };
  std::optional<failure> failure_;
};

} // namespace troupe::store::internal
