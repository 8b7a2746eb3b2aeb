// The object table's part of spilling, restoring and waiting for room.
#include <troupe/store/internal/table/object_table.hpp>

#include <troupe/store/internal/host/crash_point.hpp>
#include <troupe/store/internal/table/extents.hpp>
#include <troupe/store/internal/table/lru_list.hpp>
#include <troupe/store/internal/table/table_rows.hpp>

#include <algorithm>
#include <cassert>
#include <utility>

namespace troupe::store::internal {

namespace {

constexpr auto spill_file_bytes_max = std::uint64_t{64} << 20; // Of all small objects in one file.
constexpr auto alone_bytes_min = std::uint64_t{16} << 20;      // From this size on, an object gets its own file.
constexpr auto looks_max = std::uint32_t{4096};                // Objects inspected in one hold of the lock.

[[nodiscard]] bool is_pinned(const object_row_entry& row) {
  return has_any_bit(row.pinners) || has_any_bit(row.outside_pinners);
}

[[nodiscard]] bool is_by(const spill_file_entry& file, const process_id& who) {
  return file.worker_slot == who.slot && file.worker_nonce == who.nonce;
}

} // namespace

object_table::victims object_table::choose_victims(std::uint64_t wanted_bytes, std::span<std::uint32_t> chosen) {
  auto result = victims{};
  auto& [count, evicted_bytes, calls_for_all] = result;
  auto bytes = std::uint64_t{0};
  auto at = view_.header().lru_first;
  const auto looks_for_all = 2 * view_.header().live_objects;
  calls_for_all = looks_for_all / looks_max + 1;
  for (auto looks = std::min<std::uint64_t>(looks_max, looks_for_all);
       looks > 0 && at != no_row && count < chosen.size() && bytes + evicted_bytes < wanted_bytes; --looks) {
    auto& row = view_.object(at);
    const auto index = std::exchange(at, row.lru_after);
    const auto length = length_of(row);
    const auto can_go = row.state.load() == object_state::sealed && length > 0 && !is_pinned(row);
    if (!can_go || row.used.exchange(0) != 0) {
      lru_list(held_).touch(index);
      continue;
    }
    if (has_copy_on_disk(row)) {
      if (evict(index))
        evicted_bytes += length;
      continue;
    }
    const auto is_alone = length >= alone_bytes_min;
    if (count > 0 && (is_alone || bytes + length > spill_file_bytes_max))
      break;
    chosen[count++] = index;
    bytes += length;
    if (is_alone)
      break;
  }
  return result;
}

std::uint64_t object_table::evict_copied(std::uint64_t wanted_bytes, walk& where) {
  const auto& header = view_.header();
  if (!where.has_begun)
    where = {header.lru_first, 2 * header.live_objects, true};
  // Since the last hold of the lock, the object may have been spilled, or its row reused.
  if (where.at != no_row && !lies_in_memory(view_.object(where.at)))
    where.at = header.lru_first;
  auto freed = std::uint64_t{0};
  auto looks = std::min<std::uint64_t>(looks_max, where.looks_left);
  where.looks_left -= looks;
  for (; looks > 0 && freed < wanted_bytes; --looks) {
    if (where.at == no_row) {
      if (!std::exchange(where.spares_used, false))
        break;
      where.at = header.lru_first;
      continue;
    }
    auto& row = view_.object(where.at);
    const auto index = std::exchange(where.at, row.lru_after);
    const auto length = length_of(row);
    if (row.state.load() != object_state::sealed || length == 0 || !has_copy_on_disk(row) || is_pinned(row))
      continue;
    if (row.used.exchange(0) != 0 && where.spares_used)
      continue;
    if (evict(index))
      freed += length;
  }
  where.has_ended = where.looks_left == 0 || (where.at == no_row && !where.spares_used);
  return freed;
}

std::uint64_t object_table::evict_old_copied(std::uint64_t wanted_bytes) {
  const auto& header = view_.header();
  auto freed = std::uint64_t{0};
  auto passed = std::uint64_t{0};
  auto at = header.lru_first;
  for (auto looks = looks_max; looks > 0 && at != no_row && freed < wanted_bytes; --looks) {
    auto& row = view_.object(at);
    const auto index = std::exchange(at, row.lru_after);
    const auto length = length_of(row);
    passed += length;
    if (passed > header.capacity_bytes / 2)
      break;
    const auto can_go = row.state.load() == object_state::sealed && length > 0 && has_copy_on_disk(row)
                        && !is_pinned(row) && row.used.load() == 0;
    if (can_go && evict(index))
      freed += length;
  }
  return freed;
}

void object_table::begin_spill(std::uint32_t index, std::uint32_t worker) {
  auto& row = view_.object(index);
  assert(row.state.load() == object_state::sealed);
  row.worker_slot = static_cast<std::uint16_t>(worker);
  row.state.store(object_state::spilling);
  reach(crash_point::spill_begun);
}

/// Requires: the file is complete.
bool object_table::end_spill(std::uint32_t index, const spill_place& place) {
  auto& row = view_.object(index);
  assert(row.state.load() == object_state::spilling);
  row.spill_offset = place.offset;
  row.spill_checksum = place.checksum;
  store_in_order(row.spill_file, place.file);
  reach(crash_point::spill_placed);
  auto& file = view_.spill_file(place.file);
  ++file.live_objects;
  file.live_bytes += length_of(row);
  return evict(index);
}

/// Frees the memory of an object that has a copy on disk, unless a process has pinned it meanwhile.
bool object_table::evict(std::uint32_t index) {
  auto& header = view_.header();
  auto& row = view_.object(index);
  row.state.store(object_state::evicting); // From here on, a pinning process waits for the lock ...
  reach(crash_point::spill_evicting);
  if (is_pinned(row)) { // ... and earlier pins are visible.
    row.state.store(object_state::sealed);
    return false;
  }
  row.state.store(object_state::spilled);
  reach(crash_point::spill_evicted);
  return_extent(index);
  ++header.spilled_objects;
  header.spilled_bytes += length_of(row);
  reach(crash_point::spill_finished);
  return true;
}

void object_table::give_up_spill(std::uint32_t index) {
  assert(view_.object(index).state.load() == object_state::spilling);
  view_.object(index).state.store(object_state::sealed);
}

outcome object_table::begin_restore(std::uint32_t index, std::uint32_t worker) {
  auto& row = view_.object(index);
  assert(row.state.load() == object_state::spilled);
  const auto offset = take_extent(length_of(row));
  if (!offset)
    return outcome::no_space;
  row.offset = *offset;
  row.worker_slot = static_cast<std::uint16_t>(worker);
  reach(crash_point::restore_placed);
  row.state.store(object_state::restoring);
  lru_list(held_).add(index);
  reach(crash_point::restore_begun);
  return outcome::done;
}

void object_table::end_restore(std::uint32_t index) {
  auto& row = view_.object(index);
  assert(row.state.load() == object_state::restoring);
  row.used.store(1);
  row.state.store(object_state::sealed);
  reach(crash_point::restore_published);
  uncount_spilled(row);
  reach(crash_point::restore_finished);
}

void object_table::give_up_restore(std::uint32_t index) {
  auto& row = view_.object(index);
  assert(row.state.load() == object_state::restoring);
  row.state.store(object_state::spilled);
  return_extent(index);
}

/// Requires: the object is not published yet. From now on the file counts as complete. If the writer dies, its object
/// is reaped, and the file is removed with the object.
void object_table::give_own_file(std::uint32_t index, std::uint32_t file) {
  auto& row = view_.object(index);
  row.place = 1;
  row.spill_offset = 0;
  row.spill_checksum = 0;
  store_in_order(row.spill_file, file);
  end_spill_file(file, length_of(row));
  auto& entry = view_.spill_file(file);
  entry.live_objects = 1;
  entry.live_bytes = length_of(row);
  reach(crash_point::own_file_given);
}

/// Requires: the object's state no longer says that it is only on disk.
void object_table::uncount_spilled(const object_row_entry& row) {
  auto& header = view_.header();
  --header.spilled_objects;
  header.spilled_bytes -= length_of(row);
}

/// Removes an object from the count of its spill file, after the object is gone.
void object_table::leave_spill_file(const object_row_entry& row) {
  auto& header = view_.header();
  auto& file = view_.spill_file(row.spill_file.load());
  assert(file.live_objects > 0);
  --file.live_objects;
  file.live_bytes -= length_of(row);
  if (file.live_objects == 0 && file.state.load() == spill_file_state::complete)
    header.spill_files_to_remove.store(1);
}

outcome object_table::take_spill_file(const process_id& worker, std::uint32_t& file) {
  auto& table = view_.header().spill_files;
  if (!has_room(table, 1))
    return outcome::need_spill_files;
  file = take_free(table, [this](std::uint32_t row) { return view_.spill_file(row).next_free; });
  auto& entry = view_.spill_file(file);
  ++entry.generation;
  entry.size_bytes = 0;
  entry.worker_slot = worker.slot;
  entry.worker_nonce = worker.nonce;
  entry.live_objects = 0;
  entry.live_bytes = 0;
  reach(crash_point::spill_file_filled);
  entry.state.store(spill_file_state::writing);
  reach(crash_point::spill_file_taken);
  return outcome::done;
}

void object_table::end_spill_file(std::uint32_t file, std::uint64_t size_bytes) {
  auto& entry = view_.spill_file(file);
  assert(entry.state.load() == spill_file_state::writing);
  entry.size_bytes = size_bytes;
  entry.state.store(spill_file_state::complete);
  reach(crash_point::spill_file_complete);
}

std::uint64_t object_table::bytes_being_spilled() const {
  auto bytes = std::uint64_t{0};
  for (auto at = std::uint32_t{0}; at < view_.header().spill_files.used; ++at)
    if (const auto& file = view_.spill_file(at);
        file.state.load() == spill_file_state::writing && is_attached({file.worker_slot, file.worker_nonce}))
      bytes += file.size_bytes;
  return bytes;
}

std::uint32_t object_table::take_file_to_remove(const process_id& worker) {
  auto& header = view_.header();
  for (auto at = std::uint32_t{0}; at < header.spill_files.used; ++at) {
    auto& file = view_.spill_file(at);
    const auto state = file.state.load();
    const auto is_empty = state == spill_file_state::complete && file.live_objects == 0;
    const auto is_left = (state == spill_file_state::removing || state == spill_file_state::writing)
                         && !is_by(file, worker) && !is_attached({file.worker_slot, file.worker_nonce});
    if (!is_empty && !is_left)
      continue;
    file.worker_slot = worker.slot;
    file.worker_nonce = worker.nonce;
    file.state.store(spill_file_state::removing);
    reach(crash_point::spill_file_removing);
    return at;
  }
  return no_row;
}

void object_table::end_removal(std::uint32_t file) {
  auto& entry = view_.spill_file(file);
  assert(entry.state.load() == spill_file_state::removing);
  entry.state.store(spill_file_state::free);
  return_free(view_.header().spill_files, file, entry.next_free);
  reach(crash_point::spill_file_removed);
}

// -- waiting for room

outcome object_table::add_waiter(const process_id& who, std::uint64_t size_bytes, std::int64_t expires_ns,
                                 std::uint32_t& waiter) {
  auto& header = view_.header();
  if (!has_room(header.waiters, 1))
    return outcome::need_waiters;
  waiter = take_free(header.waiters, [this](std::uint32_t row) { return view_.waiter(row).next_free; });
  auto& entry = view_.waiter(waiter);
  entry.nonce = who.nonce;
  entry.slot = who.slot;
  entry.size_bytes = size_bytes;
  entry.expires_ns = expires_ns;
  reach(crash_point::waiter_filled);
  entry.ticket.store(++header.next_ticket);
  reach(crash_point::waiter_added);
  return outcome::done;
}

void object_table::remove_waiter(std::uint32_t waiter) {
  auto& entry = view_.waiter(waiter);
  entry.ticket.store(0);
  return_free(view_.header().waiters, waiter, entry.next_free);
  reach(crash_point::waiter_removed);
}

std::uint64_t object_table::wanted_ahead(std::uint32_t waiter, std::int64_t now_ns) {
  const auto& table = view_.header().waiters;
  const auto mine = waiter == no_row ? UINT64_MAX : view_.waiter(waiter).ticket.load();
  auto least = UINT64_MAX;
  for (auto at = std::uint32_t{0}; at < table.used; ++at) {
    const auto& other = view_.waiter(at);
    if (other.ticket.load() == 0 || other.ticket.load() >= mine)
      continue;
    if (!is_attached({other.slot, other.nonce}) || other.expires_ns == 0)
      remove_waiter(at);
    else if (other.expires_ns > now_ns)
      least = std::clamp<std::uint64_t>(other.size_bytes, 1, least);
  }
  return least == UINT64_MAX ? 0 : least;
}

} // namespace troupe::store::internal
