// Moving objects to disk and back: the lock is held for choosing and for noting what was done, never while bytes move.
#include <troupe/store/internal/attachment/attachment.hpp>

#include <troupe/base/sizes.hpp>
#include <troupe/store/internal/files/page_care.hpp>
#include <troupe/store/internal/host/clock.hpp>
#include <troupe/store/internal/host/crash_point.hpp>

#include <algorithm>
#include <new>
#include <thread>

namespace troupe::store::internal {

namespace {

using namespace std::chrono_literals;

constexpr auto victims_max = std::size_t{1024}; // In one file.
constexpr auto look_pause = 100ms;              // As who waits for room.

// At least such a part of the capacity at once: small objects share files.
constexpr std::uint64_t batch_of_capacity = 16;

// Who brings the same object back is waited for no longer.
constexpr auto others_restore_life = std::chrono::nanoseconds{30s};

// Who reads it at the same moment is waited for by those who would not wait, too: unless it is stopped, it takes what
// reading takes.
constexpr auto others_restore_least = std::chrono::nanoseconds{200ms};

// Who has no more time makes room so many times, for itself or for who is quicker.
constexpr auto late_spills_max = 3;

// After a failure the disk is left alone for so long.
constexpr auto failed_disk_pause = std::chrono::nanoseconds{1s};

// Who has less does not try again what another has given up for want of time.
constexpr auto trying_again_takes = std::chrono::nanoseconds{10ms};

/// What is half-way has to be made whole or given up whatever happens.
template <class Move>
[[nodiscard]] auto out_of_memory_is_failure(Move move) -> decltype(move()) {
  try {
    return move();
  } catch (const std::bad_alloc&) {
    return std::unexpected(store_error{store_errc::system_failure, "out of memory"}); // Short: needs no memory itself.
  }
}

/// Whether spilling failed because nothing could be written.
[[nodiscard]] bool is_of_the_disk(const store_error& why) {
  return why.code() == store_errc::system_failure || why.code() == store_errc::full;
}

} // namespace

spill_directory spill_directory_of(const opened_store& store) {
  const auto* directory = store.files.view.spill_directory();
  return *directory == 0 ? spill_directory{} : spill_directory{directory, store.paths.on_disk};
}

/// Spills until about so much is free that was not. Gives how much; 0 when there is nothing that could be spilled. A
/// disk that is full or fails is not waited for beyond `until_ns`; then what it has a copy of is given up. Whoever has
/// no room (search::all) begins with that, among what was unused for long: it needs no write.
std::expected<std::uint64_t, store_error> attachment::spill(std::uint64_t wanted_bytes, search among,
                                                            std::int64_t until_ns) {
  if (!spills_.is_there())
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

/// Gives up the memory of objects that have a copy on disk.
std::expected<std::uint64_t, store_error> attachment::evict_copied(std::uint64_t wanted_bytes, search among) {
  auto freed = std::uint64_t{0};
  for (auto where = object_table::walk{}; !where.has_ended && freed < wanted_bytes; let_others_go_first(view_)) {
    const auto guard = lock();
    if (!guard)
      return std::unexpected(guard.error());
    freed += among == search::all ? object_table(*guard).evict_copied(wanted_bytes - freed, where)
                                  : object_table(*guard).evict_old_copied(wanted_bytes);
    if (freed > 0)
      view_.header().spilling_ended_ns = monotonic_ns();
    if (among == search::some)
      break;
  }
  if (freed > 0)
    announce();
  return freed;
}

std::expected<std::uint64_t, store_error> attachment::spill_by_writing(std::uint64_t wanted_bytes, search among,
                                                                       std::int64_t until_ns) {
  auto my_turn = disk_queue::turn{spill_queue_, until_ns};
  const auto now_ns = monotonic_ns();
  const auto has_time = until_ns > now_ns && until_ns - now_ns > trying_again_takes.count();
  if (spill_failure_ && now_ns < spill_failure_->again_ns && !(spill_failure_->was_cut_short && has_time))
    return std::unexpected(spill_failure_->why);
  spill_failure_.reset();
  const auto pause = [&](std::chrono::nanoseconds how_long) { return my_turn.pause(how_long); };
  wanted_bytes = std::max(wanted_bytes, view_.header().capacity_bytes / batch_of_capacity);
  auto spilled = std::uint64_t{0};
  auto in_vain = std::uint64_t{0};
  while (spilled < wanted_bytes) {
    auto calls_for_all = std::uint64_t{1};
    const auto batch = spill_batch(wanted_bytes - spilled, calls_for_all, pause);
    if (!batch && batch.error().code() != store_errc::busy)
      spill_failure_ = {batch.error(), monotonic_ns() + failed_disk_pause.count(), my_turn.was_cut_short()};
    if (!batch)
      return batch;
    if (*batch == 0 && (among == search::some || ++in_vain >= calls_for_all))
      break;
    if (*batch == 0)
      let_others_go_first(view_);
    spilled += *batch;
  }
  return spilled;
}

/// One file.
std::expected<std::uint64_t, store_error>
attachment::spill_batch(std::uint64_t wanted_bytes, std::uint64_t& calls_for_all, const disk_pause& pause) {
  auto victims = std::vector<std::uint32_t>(victims_max);
  auto file = no_row;
  auto evicted_bytes = std::uint64_t{0};
  for (auto failures = 0;;) {
    auto what = outcome::done;
    {
      const auto guard = lock();
      if (!guard)
        return std::unexpected(guard.error());
      const auto chosen = begin_spill(*guard, wanted_bytes, victims, file, what);
      victims.resize(chosen.to_write);
      evicted_bytes += chosen.evicted_bytes;
      calls_for_all = chosen.calls_for_all;
    }
    if (what == outcome::done || evicted_bytes > 0)
      break;
    victims.resize(victims_max);
    if (auto grown = grow_or_reap(what, failures); !grown)
      return std::unexpected(grown.error());
  }
  if (evicted_bytes > 0)
    announce();
  if (victims.empty())
    return evicted_bytes;
  const auto places = out_of_memory_is_failure([&] { return write_spill_file(file, victims, pause); });
  auto spilled = end_spill(file, victims, places ? std::span{*places} : std::span<const spill_place>{});
  announce();
  if (auto removed = remove_spill_files(); !removed)
    return std::unexpected(removed.error());
  if (places && spilled)
    return *spilled + evicted_bytes;
  if (evicted_bytes > 0) // That much is free all the same.
    return evicted_bytes;
  return places ? spilled : std::unexpected(places.error());
}

/// Nobody frees or moves a victim that has to be written until end_spill().
object_table::victims attachment::begin_spill(table_held held, std::uint64_t wanted_bytes,
                                              std::span<std::uint32_t> victims, std::uint32_t& file, outcome& what) {
  auto chosen = object_table(held).choose_victims(wanted_bytes, victims);
  if (chosen.evicted_bytes > 0)
    view_.header().spilling_ended_ns = monotonic_ns();
  if (chosen.to_write == 0)
    return chosen;
  what = object_table(held).take_spill_file(store_.self, file);
  if (what != outcome::done)
    chosen.to_write = 0;
  for (const auto index : victims.first(chosen.to_write)) {
    object_table(held).begin_spill(index, store_.self.slot);
    view_.spill_file(file).size_bytes += extent_of(index).size(); // As planned, for who else wants to spill.
  }
  return chosen;
}

/// Without the lock: nobody else frees or moves what is being spilled. If the disk takes some of them only, those are
/// spilled.
std::expected<std::vector<spill_place>, store_error>
attachment::write_spill_file(std::uint32_t file, std::span<const std::uint32_t> victims,
                             const disk_pause& pause) const {
  const auto made = spills_.create(file, view_.spill_file(file).generation, pause);
  if (!made)
    return std::unexpected(made.error());
  auto places = std::vector<spill_place>{};
  auto offset = std::uint64_t{0};
  for (const auto index : victims) {
    const auto& row = view_.object(index);
    const auto extent = std::span{readable_ + row.offset, extent_length(row.size_bytes.load(), row.metadata_bytes)};
    const auto written = spills_.append(*made, extent, pause);
    if (!written && places.empty())
      return std::unexpected(written.error());
    if (!written) {
      spills_.cut(file, view_.spill_file(file).generation, offset);
      break;
    }
    places.push_back({file, offset, *written});
    offset += extent.size();
  }
  reach(crash_point::spill_file_written);
  return places;
}

/// Notes what was written, which is the first of the victims; none where `places` is empty. Gives how many bytes of
/// memory that has freed.
std::expected<std::uint64_t, store_error>
attachment::end_spill(std::uint32_t file, std::span<const std::uint32_t> victims, std::span<const spill_place> places) {
  const auto guard = lock();
  if (!guard) {
    keep_half_done(file, victims);
    return std::unexpected(guard.error());
  }
  auto size_bytes = std::uint64_t{0};
  for (const auto index : victims.first(places.size()))
    size_bytes += extent_length(view_.object(index).size_bytes.load(), view_.object(index).metadata_bytes);
  object_table(*guard).end_spill_file(file, size_bytes);
  auto freed = std::uint64_t{0};
  for (auto at = std::size_t{0}; at < victims.size(); ++at) {
    const auto& row = view_.object(victims[at]);
    if (at >= places.size())
      object_table(*guard).give_up_spill(victims[at]);
    else if (object_table(*guard).end_spill(victims[at], places[at]))
      freed += extent_length(row.size_bytes.load(), row.metadata_bytes);
    object_table(*guard).free_if_unreferenced(victims[at]); // Its last holder has left it to us.
  }
  auto& header = view_.header();
  if (view_.spill_file(file).live_objects == 0)
    header.spill_files_to_remove.store(1);
  (places.empty() ? header.spilling_failed_ns : header.spilling_ended_ns) = monotonic_ns();
  return freed;
}

/// Removes the files in which nothing lies any more, one after the other.
std::expected<void, store_error> attachment::remove_spill_files() {
  auto& wanted = view_.header().spill_files_to_remove;
  if (!spills_.is_there() || wanted.load() == 0 || wanted.exchange(0) == 0)
    return {};
  for (;;) {
    auto file = no_row;
    {
      const auto guard = lock_table(view_, store_.self.slot, store_.settings.lock_timeout);
      if (guard)
        file = object_table(*guard).take_file_to_remove(store_.self);
      else
        wanted.store(1);
      if (!guard)
        return std::unexpected(guard.error());
    }
    if (file == no_row)
      return {};
    spills_.remove(file, view_.spill_file(file).generation);
    reach(crash_point::spill_file_unlinked);
    const auto guard = lock_table(view_, store_.self.slot, store_.settings.lock_timeout);
    if (!guard) {
      wanted.store(1);
      return std::unexpected(guard.error());
    }
    object_table(*guard).end_removal(file);
  }
}

/// Who is stopped in the lock keeps objects half-way; they are given up as soon as it goes on.
void attachment::keep_half_done(std::uint32_t file, std::span<const std::uint32_t> objects) {
  {
    const auto alone = std::lock_guard{half_done_mutex_};
    half_done_.push_back({file, {objects.begin(), objects.end()}});
  }
  in_background(job::give_up_half_done);
}

/// Makes what is half-way what it was before. Gives whether nothing is half-way any more.
bool attachment::give_up_half_done() {
  {
    const auto alone = std::lock_guard{half_done_mutex_};
    if (half_done_.empty())
      return true;
    const auto guard = lock();
    if (!guard)
      return guard.error().code() != store_errc::busy;
    for (const auto& [file, objects] : half_done_) {
      for (const auto index : objects) {
        file == no_row ? object_table(*guard).give_up_restore(index) : object_table(*guard).give_up_spill(index);
        object_table(*guard).free_if_unreferenced(index);
      }
      if (file == no_row)
        continue;
      object_table(*guard).end_spill_file(file, 0);
      view_.header().spill_files_to_remove.store(1);
    }
    half_done_.clear();
  }
  remove_spill_files_if_wanted();
  announce();
  return true;
}

store_error attachment::slow_restore_error(std::uint32_t index, std::uint32_t worker,
                                           std::chrono::nanoseconds waited) const {
  const auto id = object_id{number(), index, view_.object(index).generation.load()};
  return {store_errc::busy, "object " + to_string(id) + " is being brought back from disk by process "
                                + std::to_string(view_.slot(worker).pid.load()) + " and was not there within "
                                + grouped(static_cast<std::uint64_t>(
                                    std::chrono::duration_cast<std::chrono::milliseconds>(waited).count()))
                                + (waited >= others_restore_life ? " ms; is it stopped?" : " ms")};
}

/// Brings the object back into memory, or waits until somebody else has. Where the disk takes nothing that could make
/// room for it, gives a mapping of the copy there instead. Requires: this process holds and pins it.
std::expected<mapping_ptr, store_error> attachment::restore(std::uint32_t index,
                                                            const std::optional<std::chrono::milliseconds>& within) {
  const auto& row = view_.object(index);
  const auto length = extent_length(row.size_bytes.load(), row.metadata_bytes);
  const auto began_ns = monotonic_ns();
  const auto patience = within ? at_most_a_day(*within) : others_restore_life;
  const auto patience_with_others = std::clamp(patience, others_restore_least, others_restore_life);
  const auto until_ns = within ? began_ns + patience.count() : no_end;
  const auto pause = [until_ns](std::chrono::nanoseconds how_long) {
    const auto has_time = until_ns - how_long.count() >= monotonic_ns();
    if (has_time)
      std::this_thread::sleep_for(how_long);
    return has_time;
  };
  const auto waited_since = [](std::int64_t from_ns) { return std::chrono::nanoseconds{monotonic_ns() - from_ns}; };
  auto change = watch{};
  auto why = std::string{};
  for (auto spilled_late = 0;;) {
    auto what = outcome::done;
    auto is_ours = false;
    auto grace_from_ns = began_ns;
    auto is_being_made = false;
    auto worker = std::uint32_t{0};
    {
      const auto guard = lock();
      if (!guard)
        return std::unexpected(guard.error());
      object_table(*guard).reclaim(reclaim_batch);
      const auto state = row.state.load();
      if (state == object_state::sealed || state == object_state::spilling)
        return nullptr;
      if (state == object_state::spilled) {
        what = object_table(*guard).begin_restore(index, store_.self.slot);
        is_ours = what == outcome::done;
      }
      worker = row.worker_slot;
      is_being_made = what == outcome::no_space && is_room_being_made(*guard, began_ns);
      grace_from_ns = std::max(began_ns, view_.header().spilling_ended_ns);
    }
    if (is_ours) {
      if (auto read = read_back(index, pause); !read)
        return std::unexpected(read.error());
      return nullptr;
    }
    const auto waited = waited_since(began_ns);
    const auto is_late = within && waited >= patience;
    if (what == outcome::no_space) {
      // What was made room for may be taken by others again and again.
      if (!is_late || spilled_late < late_spills_max) {
        spilled_late += is_late ? 1 : 0;
        const auto spilled = spill(length, search::all, until_ns);
        why = spilled ? std::string{} : spilled.error().message();
        if (spilled && *spilled > 0)
          continue;
        if (!spilled && is_of_the_disk(spilled.error()))
          return out_of_memory_is_failure([&] { return map_copy(index, pause); });
      }
      const auto grace = at_most_a_day(store_.settings.full_grace);
      const auto had_grace = waited_since(grace_from_ns) >= grace && (grace.count() <= 0 || !is_being_made);
      if (had_grace || (within && waited_since(began_ns) >= patience && change.is_set))
        return std::unexpected(full_error(row.size_bytes.load(), why));
    } else if (waited >= (worker == store_.self.slot ? others_restore_life : patience_with_others)) {
      return std::unexpected(slow_restore_error(index, worker, waited));
    }
    auto left = patience_with_others - waited_since(began_ns);
    if (what == outcome::no_space)
      left = within ? patience - waited_since(began_ns) : look_pause;
    wait_for_change(change, std::clamp<std::chrono::nanoseconds>(left, 1ms, look_pause));
    if (auto reaped = reap_while_waiting(); !reaped) // Who was restoring it may be dead.
      return std::unexpected(reaped.error());
  }
}

/// Without the lock: nobody else touches what is being restored.
std::expected<void, store_error> attachment::read_bytes_back(std::uint32_t index, const disk_pause& pause) {
  const auto& row = view_.object(index);
  const auto extent = extent_of(index);
  auto done = pages_.commit(row.offset, row.offset + extent.size());
  if (done)
    done = spills_.read(row.spill_file, view_.spill_file(row.spill_file).generation, row.spill_offset, extent,
                        row.spill_checksum, pause);
  reach(crash_point::restore_read);
  return done;
}

std::expected<void, store_error> attachment::read_back(std::uint32_t index, const disk_pause& pause) {
  if (protects_sealed_)
    unprotect_pages(extent_of(index));
  auto done = out_of_memory_is_failure([&] { return read_bytes_back(index, pause); });
  if (protects_sealed_)
    protect_whole_pages(extent_of(index));
  {
    const auto guard = lock();
    if (!guard) {
      keep_half_done(no_row, {&index, 1});
      return std::unexpected(guard.error());
    }
    if (done)
      object_table(*guard).end_restore(index);
    else
      object_table(*guard).give_up_restore(index);
  }
  announce();
  if (!done)
    return std::unexpected(error_of_object(index, done.error()));
  return {};
}

} // namespace troupe::store::internal
