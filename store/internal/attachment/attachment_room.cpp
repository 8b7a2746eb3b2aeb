// Room for new objects: rows, extents and pages, and waiting for them in the order of coming.
#include <troupe/store/internal/attachment/attachment.hpp>

#include <troupe/base/sizes.hpp>
#include <troupe/store/internal/files/page_care.hpp>
#include <troupe/store/internal/host/clock.hpp>
#include <troupe/store/internal/host/crash_point.hpp>
#include <troupe/store/internal/table/extents.hpp>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <unordered_set>

namespace troupe::store::internal {

namespace {

using namespace std::chrono_literals;

// Who waits looks this often whether somebody has died: the dead wake nobody.
constexpr auto look_pause = 100ms;

// A waiter that has not looked for so long is stopped, or writes to a slow disk; others go first meanwhile.
constexpr auto waiter_life = std::chrono::nanoseconds{5s};

// Somebody else's spill that is under way is waited for beyond the grace, but not for ever: its process may be stopped.
constexpr auto others_spill_life = std::chrono::nanoseconds{30s};

// A disk that somebody could not write to so lately is not waited for: others will not do better.
constexpr auto failed_disk_life = std::chrono::nanoseconds{3s};

// The end of a long path says more than its beginning.
constexpr auto call_site_length = std::size_t{255};

// From here on memory is made free before somebody needs it.
constexpr std::uint64_t ahead_percent = 80;

/// Room for those that are not made yet.
[[nodiscard]] std::uint64_t left_of(std::span<const creation> wanted, std::size_t made) {
  auto bytes = std::uint64_t{0};
  for (const auto& one : wanted.subspan(made))
    bytes += extent_length(one.size_bytes, one.metadata_bytes);
  return bytes;
}

} // namespace

/// A place among those who wait for room. Given back at the end; where the lock cannot be had, by who comes behind.
class attachment::turn {
public:
  explicit turn(attachment& of) : of_(of) {}
  turn(const turn&) = delete;
  turn& operator=(const turn&) = delete;
  ~turn() {
    if (row_ == no_row)
      return;
    if (const auto guard = of_.lock())
      object_table(*guard).remove_waiter(row_);
    else if (guard.error().code() == store_errc::busy)
      of_.view_.waiter(row_).expires_ns = 0;
    of_.announce(); // The next one may be first now.
  }

  /// The least that anybody before this one waits for; 0: nobody does, and its turn has come.
  [[nodiscard]] std::uint64_t wanted_ahead(table_held held) const {
    auto table = object_table(held);
    if (!table.anybody_waits())
      return 0;
    const auto now_ns = monotonic_ns();
    if (row_ != no_row)
      of_.view_.waiter(row_).expires_ns = now_ns + waiter_life.count();
    return table.wanted_ahead(row_, now_ns);
  }

  [[nodiscard]] outcome take(table_held held, std::uint64_t size_bytes) {
    if (row_ != no_row)
      return outcome::done;
    return object_table(held).add_waiter(of_.store_.self, size_bytes, monotonic_ns() + waiter_life.count(), row_);
  }

private:
  attachment& of_;
  std::uint32_t row_ = no_row;
};

store_error attachment::full_error(std::uint64_t size_bytes, const std::string& why) const {
  auto text = "object of " + grouped(size_bytes) + " bytes, store has ";
  const auto& header = view_.header();
  if (const auto guard = lock_table(view_, store_.self.slot, store_.settings.lock_timeout))
    text += grouped(header.capacity_bytes - header.bytes_in_use) + " free of " + grouped(header.capacity_bytes)
            + " (longest free piece " + grouped(extent_map(*guard).longest()) + ")";
  else
    text += "a capacity of " + grouped(header.capacity_bytes);
  return {store_errc::full,
          text + "; "
              + (why.empty() ? std::string{"everything else is held: drop some, or raise capacity_bytes"} : why)};
}

/// All or none.
std::expected<void, store_error> attachment::create_committed(std::span<const creation> wanted,
                                                              std::span<std::uint32_t> indexes,
                                                              std::chrono::milliseconds grace) {
  for (auto has_reaped = false;; has_reaped = true) {
    auto made = std::size_t{0};
    auto done = create_rows(wanted, indexes, made, grace);
    const auto has_rows = done.has_value();
    if (has_rows)
      done = commit_all(wanted, indexes);
    if (!done)
      for (const auto index : indexes.first(made))
        abort(index);
    // The file system may have no more pages. Those of the dead may do, or what others have given up meanwhile.
    if (done || !has_rows || done.error().code() != store_errc::full || has_reaped)
      return done;
    if (auto reaped = reap(); !reaped)
      return std::unexpected(reaped.error());
  }
}

std::expected<void, store_error> attachment::commit_all(std::span<const creation> wanted,
                                                        std::span<const std::uint32_t> indexes) {
  for (auto at = std::size_t{0}; at < wanted.size(); ++at) {
    const auto length = extent_length(wanted[at].size_bytes, wanted[at].metadata_bytes);
    if (length == 0)
      continue;
    if (protects_sealed_)
      unprotect_pages(extent_of(indexes[at]));
    if (wanted[at].grows)
      continue;
    const auto offset = view_.object(indexes[at]).offset;
    if (auto done = pages_.commit(offset, offset + length); !done)
      return std::unexpected(store_error{done.error().code(), "object of " + grouped(wanted[at].size_bytes)
                                                                  + " bytes: " + done.error().message()});
  }
  reach(crash_point::create_committed);
  return {};
}

/// Makes up to so many rows in one hold of the lock.
outcome attachment::create_some(table_held held, std::span<const creation> wanted, std::span<std::uint32_t> indexes,
                                std::size_t& made) {
  const auto end = std::min(wanted.size(), made + reclaim_batch);
  for (; made < end; ++made)
    if (const auto what =
            object_table(held).create(wanted[made], indexes[made], [this](std::uint32_t row) { hold_new(row); });
        what != outcome::done)
      return what;
  return outcome::done;
}

/// An id in `captured` is not what it has to be.
store_error attachment::error_of_captured(outcome what, std::span<const object_id> captured) const {
  const auto missing =
      std::ranges::find_if(captured, [&](const object_id& id) { return reader_.look_up(id) != outcome::done; });
  return error_of(what, missing == captured.end() ? captured.front() : *missing);
}

/// Gives also on failure how many rows were made.
std::expected<void, store_error> attachment::create_rows(std::span<const creation> wanted,
                                                         std::span<std::uint32_t> indexes, std::size_t& made,
                                                         std::chrono::milliseconds grace) {
  auto my_turn = turn{*this};
  auto failures = 0;
  auto has_reaped = false;
  auto why = std::string{};
  auto began_ns = std::int64_t{0};
  auto change = watch{};
  for (;;) {
    auto what = outcome::no_space;
    auto wanted_ahead = std::uint64_t{0};
    auto is_being_made = false;
    auto is_nearly_full = false;
    auto wants_touch = false;
    auto has_disk_failed = false;
    auto spilling_ended_ns = std::int64_t{0};
    {
      const auto guard = lock();
      if (!guard)
        return std::unexpected(guard.error());
      const auto& header = view_.header();
      object_table(*guard).reclaim(reclaim_batch);
      wanted_ahead = my_turn.wanted_ahead(*guard);
      if (wanted_ahead == 0)
        what = create_some(*guard, wanted, indexes, made);
      if (what == outcome::no_space && grace.count() > 0)
        if (const auto taken = my_turn.take(*guard, left_of(wanted, made)); taken != outcome::done)
          what = taken;
      wants_touch = store_.settings.pretouch_bytes > 0 && has_to_touch(*guard);
      if (what == outcome::no_space && began_ns > 0)
        is_being_made = is_room_being_made(*guard, began_ns);
      is_nearly_full = header.bytes_in_use > header.capacity_bytes / 100 * ahead_percent;
      spilling_ended_ns = header.spilling_ended_ns;
      has_disk_failed =
          header.spilling_failed_ns > 0 && monotonic_ns() - header.spilling_failed_ns < failed_disk_life.count();
    }
    if (is_nearly_full && spills_.is_there())
      in_background(job::spill);
    if (wants_touch)
      in_background(job::touch);
    switch (what) {
    case outcome::done:
      if (made == wanted.size())
        return {};
      continue;
    case outcome::need_objects:
    case outcome::need_edges:
    case outcome::need_waiters:
    case outcome::need_origins:
      if (auto grown = grow_or_reap(what, failures); !grown)
        return std::unexpected(grown.error());
      continue;
    case outcome::no_space:
      break;
    case outcome::origin_known:
      return std::unexpected(error_of(what, {}));
    default:
      return std::unexpected(error_of_captured(what, wanted[made].captured));
    }
    if (!std::exchange(has_reaped, true)) {
      if (auto reaped = reap(); !reaped)
        return std::unexpected(reaped.error());
      began_ns = monotonic_ns();
      continue;
    }
    if (auto reaped = reap_while_waiting(); !reaped)
      return reaped;
    if (wanted_ahead == 0 && grace.count() > 0) {
      const auto until_ns = std::max(began_ns, spilling_ended_ns) + at_most_a_day(grace).count();
      const auto spilled = spill(left_of(wanted, made), search::all, until_ns);
      why = spilled ? std::string{} : spilled.error().message();
      if (spilled && *spilled > 0)
        continue;
    }
    const auto waited = std::chrono::nanoseconds{monotonic_ns() - std::max(began_ns, spilling_ended_ns)};
    const auto left = at_most_a_day(grace) - waited;
    if (left.count() <= 0 && why.empty() && has_disk_failed)
      why = "the disk has no room, or cannot be written to, as another one found that waits";
    if (left.count() <= 0 && why.empty() && wanted_ahead > 0)
      why = "who came before it waits for " + grouped(wanted_ahead) + " bytes";
    if (left.count() <= 0 && (grace.count() <= 0 || !is_being_made))
      return std::unexpected(full_error(wanted[made].size_bytes, why));
    wait_for_change(change, left.count() > 0 ? std::min<std::chrono::nanoseconds>(left, look_pause) : look_pause);
  }
}

/// Whether memory is full only until somebody has spilled; who has waited for that long enough believes it no more.
/// Requires: the lock has been held since there was no room.
bool attachment::is_room_being_made(table_held held, std::int64_t since_ns) const {
  const auto now_ns = monotonic_ns();
  return now_ns - since_ns < others_spill_life.count()
         && now_ns - view_.header().spilling_failed_ns >= failed_disk_life.count()
         && object_table(held).bytes_being_spilled() > 0;
}

/// 0 when call sites are not recorded, or there is no more room for them.
std::uint32_t attachment::call_site_of(const std::source_location& where) {
  if (!records_call_sites_)
    return 0;
  const auto alone = std::lock_guard{call_sites_mutex_};
  const auto [known, is_new] = call_sites_.try_emplace({where.file_name(), where.line()}, 0);
  if (!is_new)
    return known->second;
  const auto text = std::string(where.file_name()) + ":" + std::to_string(where.line());
  for (auto failures = 0;;) {
    auto what = outcome::done;
    if (const auto guard = lock())
      what = object_table(*guard).take_call_site(
          std::string_view{text}.substr(text.size() - std::min(text.size(), call_site_length)), known->second);
    if (what == outcome::done || !grow_or_reap(what, failures))
      return known->second; // An object without a call site is better than none.
  }
}

/// After the first failure rows of dead processes may be enough.
std::expected<void, store_error> attachment::grow_or_reap(outcome need, int& failures) {
  auto grown = grow(need);
  if (grown || failures++ > 0)
    return grown;
  if (auto reaped = reap(); !reaped)
    return std::unexpected(reaped.error());
  return {};
}

std::expected<void, store_error> attachment::grow(outcome need) {
  auto& header = view_.header();
  struct growing {
    growing_table& table;
    const char* what;
  };
  const auto [table, what] = [&]() -> growing {
    switch (need) {
    case outcome::need_objects:
      return {header.objects, "objects"};
    case outcome::need_edges:
      return {header.edges, "captured ids"};
    case outcome::need_spill_files:
      return {header.spill_files, "files of spilled objects"};
    case outcome::need_waiters:
      return {header.waiters, "those who wait for room"};
    case outcome::need_origins:
      return {header.origins, "origins"};
    case outcome::need_call_sites:
      return {header.call_sites, "call sites"};
    default:
      return {header.flights, "entries in flight"};
    }
  }();
  auto have = table.committed.load();
  if (have >= table.rows_max)
    return std::unexpected(store_error{
        store_errc::table_full, "the store's table of " + std::string(what) + " is full: " + grouped(table.rows_max)
                                    + " are possible"
                                    + (need == outcome::need_objects ? "; drop some, or raise objects_max" : "")});
  const auto wanted = std::min(have + table.step, table.rows_max);
  const auto commit = [&](std::uint64_t offset, std::uint64_t row_bytes) {
    return commit_pages(store_.files.control_file, offset + have * row_bytes, offset + wanted * row_bytes);
  };
  if (auto done = commit(table.file_offset, table.row_bytes); !done)
    return done;
  if (need == outcome::need_objects) // As many free extents as objects are possible.
    if (auto done = commit(header.nodes_offset, sizeof(extent_node)); !done)
      return done;
  table.committed.compare_exchange_strong(have, wanted); // Else another process was quicker.
  return {};
}

std::expected<void, store_error> attachment::commit(std::uint32_t index, std::size_t from, std::size_t until) {
  if (!usable())
    return check_usable();
  const auto& row = view_.object(index);
  const auto before = round_up(row.metadata_bytes, alignment_bytes);
  if (row.place == 0)
    return pages_.commit_exactly(row.offset + before + from, row.offset + before + until);
  const auto file = row.spill_file.load();
  return spills_.commit(file, view_.spill_file(file).generation, before + from, before + until);
}

// --- Waiting ---------------------------------------------------------------------------------------------------------
//
// One futex for all: who waits raises the flag, reads the counter, looks, and sleeps while the counter is the same. Who
// changes something lowers the flag and, where it was up, raises the counter and wakes everybody. A flag that somebody
// dead has left up costs one call of the system.

void attachment::announce() noexcept {
  auto& header = view_.header();
  if (header.waiting.load() == 0 || header.waiting.exchange(0) == 0)
    return;
  header.changes.fetch_add(1);
  ::syscall(SYS_futex, &header.changes, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void attachment::wait_for_change(watch& since, std::chrono::nanoseconds longest) noexcept {
  auto& header = view_.header();
  if (!std::exchange(since.is_set, !since.is_set)) {
    header.waiting.store(1);
    since.seen = header.changes.load();
    return;
  }
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(longest);
  const auto time = timespec{static_cast<time_t>(seconds.count()), static_cast<long>((longest - seconds).count())};
  ::syscall(SYS_futex, &header.changes, FUTEX_WAIT, since.seen, &time, nullptr, 0);
}

/// One of all that wait looks for the dead, once in a while: that costs a call of the system for each process of the
/// store, and each change wakes all.
std::expected<void, store_error> attachment::reap_while_waiting() {
  auto& looked_ns = view_.header().waiter_looked_ns;
  const auto now_ns = monotonic_ns();
  auto last_ns = looked_ns.load();
  if (now_ns - last_ns < std::chrono::nanoseconds{look_pause}.count()
      || !looked_ns.compare_exchange_strong(last_ns, now_ns))
    return {};
  if (auto reaped = reap(); !reaped)
    return std::unexpected(reaped.error());
  return {};
}

namespace {

/// In the same order.
[[nodiscard]] std::vector<object_id> each_once(std::span<const object_id> ids) {
  auto seen = std::unordered_set<object_id>{};
  auto result = std::vector<object_id>{};
  for (const auto& id : ids)
    if (seen.insert(id).second)
      result.push_back(id);
  return result;
}

} // namespace

std::expected<std::vector<object_id>, store_error>
attachment::wait(std::span<const object_id> ids, std::size_t how_many, std::chrono::milliseconds timeout) {
  const auto until = deadline(timeout);
  const auto wanted = each_once(ids);
  how_many = std::min(how_many, wanted.size());
  auto change = watch{};
  for (;;) {
    if (auto usable = check_usable(); !usable)
      return std::unexpected(usable.error());
    auto found = std::vector<object_id>{};
    for (auto at = wanted.begin(); at != wanted.end() && found.size() < how_many; ++at)
      if (contains(*at))
        found.push_back(*at);
    const auto left = until.left();
    if (found.size() >= how_many || left.count() == 0)
      return found;
    wait_for_change(change, std::min<std::chrono::nanoseconds>(left, look_pause));
  }
}

std::expected<bool, store_error> attachment::wait_until(const std::function<bool()>& is_so,
                                                        std::chrono::milliseconds timeout) {
  const auto until = deadline(timeout);
  auto change = watch{};
  for (;;) {
    if (auto usable = check_usable(); !usable)
      return std::unexpected(usable.error());
    if (is_so())
      return true;
    const auto left = until.left();
    if (left.count() == 0)
      return false;
    if (auto reaped = reap_while_waiting(); !reaped && reaped.error().code() != store_errc::busy)
      return std::unexpected(reaped.error());
    wait_for_change(change, std::min<std::chrono::nanoseconds>(left, look_pause));
  }
}

} // namespace troupe::store::internal
