#include <troupe/store/internal/attachment/spiller.hpp>

#include <troupe/store/internal/attachment/out_of_memory.hpp>
#include <troupe/store/internal/host/clock.hpp>
#include <troupe/store/internal/host/crash_point.hpp>

#include <algorithm>

namespace troupe::store::internal {

namespace {

using namespace std::chrono_literals;

constexpr auto victims_max = std::size_t{1024}; // Per file.

// The fill level of the memory after spilling ahead.
constexpr std::uint64_t spill_down_to_percent = 80;

// The smallest part of the capacity to spill at once (1/16), so that small objects share files.
constexpr std::uint64_t batch_of_capacity = 16;

// For this time after a failure the disk is not used.
constexpr auto failed_disk_pause = std::chrono::nanoseconds{1s};

// A write that failed for lack of time is retried after this time. Otherwise threads that run out of time one after the
// other would have the others retry without a pause.
constexpr auto cut_short_pause = std::chrono::nanoseconds{100ms};

// A caller with less time left does not retry such a write.
constexpr auto trying_again_takes = std::chrono::nanoseconds{10ms};

} // namespace

std::expected<std::uint64_t, store_error> spiller::spill(std::uint64_t wanted_bytes, search among,
                                                         std::int64_t until_ns) {
  if (!has_disk())
    return 0;
  if (among == search::some)
    return spill_by_writing(wanted_bytes, among, until_ns);
  const auto evicted = evict_copied(wanted_bytes, search::some);
  if (!evicted || *evicted >= wanted_bytes)
    return evicted;
  const auto written = spill_by_writing(wanted_bytes - *evicted, among, until_ns);
  if (written)
    return *evicted + *written;
  const auto rest = evict_copied(wanted_bytes - *evicted, search::all);
  if (rest && *evicted + *rest > 0)
    return *evicted + *rest;
  return written;
}

void spiller::spill_ahead() {
  if (const auto excess = bytes_to_spill_ahead(); excess > 0)
    (void)spill(excess, search::some, no_end);
}

std::uint64_t spiller::bytes_to_spill_ahead() const {
  const auto guard = uses_.access.lock();
  if (!guard)
    return 0;
  const auto& header = view_.header();
  const auto kept = header.capacity_bytes / 100 * spill_down_to_percent + object_table(*guard).bytes_being_spilled();
  return header.bytes_in_use > kept ? header.bytes_in_use - kept : 0;
}

/// Frees the memory of objects that have a copy on disk.
std::expected<std::uint64_t, store_error> spiller::evict_copied(std::uint64_t wanted_bytes, search among) {
  auto freed = std::uint64_t{0};
  for (auto where = object_table::walk{}; !where.has_ended && freed < wanted_bytes; let_others_go_first(view_)) {
    const auto guard = uses_.access.lock();
    if (!guard)
      return std::unexpected(guard.error());
    auto table = object_table(*guard);
    freed +=
        among == search::all ? table.evict_copied(wanted_bytes - freed, where) : table.evict_old_copied(wanted_bytes);
    if (freed > 0)
      view_.header().spilling_ended_ns = monotonic_ns();
    if (among == search::some)
      break;
  }
  if (freed > 0)
    uses_.changes.announce();
  return freed;
}

std::expected<std::uint64_t, store_error> spiller::spill_by_writing(std::uint64_t wanted_bytes, search among,
                                                                    std::int64_t until_ns) {
  auto my_turn = disk_queue::turn{queue_, until_ns};
  const auto now_ns = monotonic_ns();
  const auto has_time = until_ns > now_ns && until_ns - now_ns > trying_again_takes.count();
  if (failure_ && now_ns < (has_time ? failure_->again_with_time_ns : failure_->again_ns))
    return std::unexpected(failure_->why);
  failure_.reset();
  const auto pause = [&](std::chrono::nanoseconds how_long) { return my_turn.pause(how_long); };
  wanted_bytes = std::max(wanted_bytes, view_.header().capacity_bytes / batch_of_capacity);
  auto spilled = std::uint64_t{0};
  auto in_vain = std::uint64_t{0};
  while (spilled < wanted_bytes) {
    auto calls_for_all = std::uint64_t{1};
    const auto freed = spill_batch(wanted_bytes - spilled, calls_for_all, pause);
    if (!freed && freed.error().code() != store_errc::busy) {
      const auto failed_ns = monotonic_ns();
      const auto again_ns = failed_ns + failed_disk_pause.count();
      failure_ = {freed.error(), again_ns, my_turn.was_cut_short() ? failed_ns + cut_short_pause.count() : again_ns};
    }
    if (!freed)
      return freed;
    if (*freed == 0 && (among == search::some || ++in_vain >= calls_for_all))
      break;
    if (*freed == 0)
      let_others_go_first(view_);
    spilled += *freed;
  }
  return spilled;
}

/// Spills one file of objects.
std::expected<std::uint64_t, store_error> spiller::spill_batch(std::uint64_t wanted_bytes, std::uint64_t& calls_for_all,
                                                               const disk_pause& pause) {
  const auto chosen = choose_batch(wanted_bytes, calls_for_all);
  if (!chosen)
    return std::unexpected(chosen.error());
  if (chosen->evicted_bytes > 0)
    uses_.changes.announce();
  if (chosen->objects.empty())
    return chosen->evicted_bytes;
  const auto places = out_of_memory_is_failure([&] { return write_batch(*chosen, pause); });
  auto spilled = end_batch(*chosen, places ? std::span{*places} : std::span<const spill_place>{});
  uses_.changes.announce();
  if (auto removed = uses_.removal.remove_all(); !removed)
    return std::unexpected(removed.error());
  if (places && spilled)
    return *spilled + chosen->evicted_bytes;
  if (chosen->evicted_bytes > 0) // The evicted bytes are free in any case.
    return chosen->evicted_bytes;
  return places ? spilled : std::unexpected(places.error());
}

std::expected<spiller::batch, store_error> spiller::choose_batch(std::uint64_t wanted_bytes,
                                                                 std::uint64_t& calls_for_all) {
  auto chosen = batch{};
  for (auto failures = 0;;) {
    auto what = outcome::done;
    chosen.objects.resize(victims_max);
    {
      const auto guard = uses_.access.lock();
      if (!guard)
        return std::unexpected(guard.error());
      const auto victims = begin_batch(*guard, wanted_bytes, chosen, what);
      chosen.objects.resize(victims.to_write);
      chosen.evicted_bytes += victims.evicted_bytes;
      calls_for_all = victims.calls_for_all;
    }
    if (what == outcome::done || chosen.evicted_bytes > 0)
      return chosen;
    if (auto grown = uses_.growth.grow_or_reap(what, failures); !grown)
      return std::unexpected(grown.error());
  }
}

/// Chooses and marks the victims. Until end_batch(), no process frees or moves those that are to be written.
object_table::victims spiller::begin_batch(table_held held, std::uint64_t wanted_bytes, batch& begun, outcome& what) {
  auto table = object_table(held);
  auto chosen = table.choose_victims(wanted_bytes, begun.objects);
  if (chosen.evicted_bytes > 0)
    view_.header().spilling_ended_ns = monotonic_ns();
  if (chosen.to_write == 0)
    return chosen;
  what = table.take_spill_file(uses_.self, begun.file);
  if (what != outcome::done)
    chosen.to_write = 0;
  for (const auto index : std::span{begun.objects}.first(chosen.to_write)) {
    table.begin_spill(index, uses_.self.slot);
    view_.spill_file(begun.file).size_bytes +=
        uses_.memory.length_of(index); // The planned size, for other processes that want to spill.
  }
  return chosen;
}

/// Runs without the lock, because no other process frees or moves objects that are being spilled. If the disk takes
/// only the first objects, those are spilled.
std::expected<std::vector<spill_place>, store_error> spiller::write_batch(const batch& begun,
                                                                          const disk_pause& pause) const {
  const auto generation = view_.spill_file(begun.file).generation;
  const auto made = uses_.files.create(begun.file, generation, pause);
  if (!made)
    return std::unexpected(made.error());
  auto places = std::vector<spill_place>{};
  auto offset = std::uint64_t{0};
  for (const auto index : begun.objects) {
    const auto extent = uses_.memory.readable_extent_of(index);
    const auto written = uses_.files.append(*made, extent, pause);
    if (!written && places.empty())
      return std::unexpected(written.error());
    if (!written) {
      uses_.files.cut(begun.file, generation, offset);
      break;
    }
    places.push_back({begun.file, offset, *written});
    offset += extent.size();
  }
  reach(crash_point::spill_file_written);
  return places;
}

/// Records the written objects, the first `places.size()` of the batch. Returns the bytes of memory freed.
std::expected<std::uint64_t, store_error> spiller::end_batch(const batch& begun, std::span<const spill_place> places) {
  const auto guard = uses_.access.lock();
  if (!guard) {
    uses_.half_done.keep(begun.file, begun.objects);
    return std::unexpected(guard.error());
  }
  auto table = object_table(*guard);
  auto size_bytes = std::uint64_t{0};
  for (const auto index : std::span{begun.objects}.first(places.size()))
    size_bytes += uses_.memory.length_of(index);
  table.end_spill_file(begun.file, size_bytes);
  auto freed = std::uint64_t{0};
  for (auto at = std::size_t{0}; at < begun.objects.size(); ++at) {
    const auto index = begun.objects[at];
    if (at >= places.size())
      table.give_up_spill(index);
    else if (table.end_spill(index, places[at]))
      freed += uses_.memory.length_of(index);
    table.free_if_unreferenced(index); // The last holder may have released the object meanwhile.
  }
  auto& header = view_.header();
  if (view_.spill_file(begun.file).live_objects == 0)
    header.spill_files_to_remove.store(1);
  (places.empty() ? header.spilling_failed_ns : header.spilling_ended_ns) = monotonic_ns();
  return freed;
}

} // namespace troupe::store::internal
