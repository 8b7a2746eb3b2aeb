// From memory to disk.
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

/// Moves objects to disk: the lock is held for choosing them and for noting what was done, never while bytes move.
///
/// Threads: any; one at a time writes.
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

  enum class search : std::uint8_t { some, all }; // Whether to give up where the first few objects cannot go.

  /// Spills until about so much is free that was not. Gives how much; 0 when there is nothing that could be spilled. A
  /// disk that is full or fails is not waited for beyond `until_ns`; then what it has a copy of is given up. Whoever
  /// has no room (search::all) begins with that, among what was unused for long: it needs no write.
  [[nodiscard]] std::expected<std::uint64_t, store_error> spill(std::uint64_t wanted_bytes, search among,
                                                                std::int64_t until_ns);

  /// What is beyond the part of memory that is left full before somebody needs more.
  void spill_ahead();

private:
  [[nodiscard]] std::uint64_t bytes_to_spill_ahead() const;
  [[nodiscard]] std::expected<std::uint64_t, store_error> spill_by_writing(std::uint64_t wanted_bytes, search among,
                                                                           std::int64_t until_ns);
  [[nodiscard]] std::expected<std::uint64_t, store_error> evict_copied(std::uint64_t wanted_bytes, search among);

  struct batch {
    std::uint32_t file = no_row;
    std::vector<std::uint32_t> objects; // To be written there.
    std::uint64_t evicted_bytes = 0;    // Of others, at once.
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
  disk_queue queue_; // One thread of this process writes at a time.
  // Guarded by its turn: after a failure the disk is left alone for a while.
  struct failure {
    store_error why;
    std::int64_t again_ns = 0;
    bool was_cut_short = false; // Who has more time may do better.
  };
  std::optional<failure> failure_;
};

} // namespace troupe::store::internal
