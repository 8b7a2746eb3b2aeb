#include <troupe/store/internal/attachment/attachment.hpp>

#include <troupe/base/sizes.hpp>
#include <troupe/store/internal/files/page_care.hpp>
#include <troupe/store/internal/host/clock.hpp>
#include <troupe/store/internal/host/crash_point.hpp>
#include <troupe/store/internal/liveness/reaping.hpp>
#include <troupe/store/internal/table/hints.hpp>
#include <troupe/store/internal/table/lru_list.hpp>
#include <troupe/store/internal/table/recovery.hpp>

#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <utility>

namespace troupe::store::internal {

namespace {

constexpr auto metadata_bytes_max = std::size_t{1} << 30;

[[nodiscard]] store_error forked_error() {
  return {store_errc::forked, "the store was opened by the process that forked this one; open it anew here"};
}

[[nodiscard]] store_error too_many_captured(std::size_t count) {
  return {store_errc::invalid_argument,
          grouped(count) + " captured ids, at most " + grouped(captured_max) + " are possible"};
}

[[nodiscard]] store_error detached_error(const std::string& why) {
  return {store_errc::detached,
          "this process is not attached to the store any more: " + why + "; drop all of its handles and open it anew"};
}

} // namespace

bool is_set(const char* variable) {
  const auto* const value = std::getenv(variable);
  return value != nullptr && std::string_view{value} == "1";
}

attachment::attachment(opened_store opened, std::string key)
    : store_(std::move(opened)),
      key_(std::move(key)),
      view_(store_.files.view),
      reader_(view_),
      counts_(view_.header().objects.rows_max),
      writable_(static_cast<std::byte*>(store_.files.writable.get_address())),
      readable_(static_cast<const std::byte*>(store_.files.readable.get_address())),
      pages_(view_, store_.files.data_file, writable_),
      fork_epoch_(current_fork_epoch()),
      spills_(spill_directory_of(store_)) {}

attachment::~attachment() {
  if (forked()) {
    (void)background_.release(); // Its thread is not in this process.
    return;
  }
  end_background();
  const auto nothing_is_half_done = give_up_half_done();
  close_store(store_, nothing_is_half_done); // Else it is given up with our slot, by who reaps us.
}

std::expected<void, store_error> attachment::check_usable() const {
  if (usable())
    return {};
  if (forked())
    return std::unexpected(forked_error());
  if (poisoned_.load(std::memory_order_relaxed))
    return std::unexpected(
        detached_error("something in it has closed the descriptor of " + store_.lock.path().string()));
  return std::unexpected(detached_error("another one found its locks gone and took it for dead"));
}

std::string attachment::notice() const {
  const auto& header = view_.header();
  if (header.data_on_disk == 0 && header.huge_pages != 0 && !gives_huge_pages(store_.settings.directory))
    return "huge pages were asked for, and " + store_.settings.directory.string()
           + " gives none; mount it with huge=advise (mount -o remount,huge=advise "
           + store_.settings.directory.string() + ")";
  if (header.data_on_disk == 0)
    return {};
  return store_.settings.directory.string() + " has no room for a store of " + grouped(header.capacity_bytes)
         + " bytes, so that its objects lie in " + quoted(view_.spill_directory())
         + ", which is slower; give the container a larger /dev/shm (docker run --shm-size), or set capacity_bytes";
}

std::expected<void, store_error> attachment::check_lock_file() const {
  if (!forked() && !store_.lock.is_intact())
    poisoned_ = true;
  return check_usable();
}

std::expected<table_guard, store_error> attachment::lock() {
  if (forked())
    return std::unexpected(forked_error());
  if (!counts_.valid())
    return std::unexpected(store_error{store_errc::system_failure, "no address space left for counting handles"});
  auto& reap_wanted = view_.header().reap_wanted;
  if (reap_wanted.load(std::memory_order_relaxed) != 0 && reap_wanted.exchange(0) != 0)
    in_background(job::reap); // Who only wants to find something does not wait for that.
  auto guard = lock_table(view_, store_.self.slot, store_.settings.lock_timeout);
  if (!guard)
    return guard;
  if (auto usable = check_usable(); !usable) // Under the lock: nobody reaps us from now on.
    return std::unexpected(std::move(usable).error());
  return guard;
}

store_error attachment::error_of(outcome what, const object_id& id) const {
  switch (what) {
  case outcome::unsealed:
    return {store_errc::unsealed, "object " + to_string(id) + " is still being written"};
  case outcome::origin_known:
    return {store_errc::unsealed, "an object of that origin is being made"};
  case outcome::peer_gone:
    return {store_errc::peer_gone, "the peer is not attached to store \"" + store_.settings.name + "\" (any more)"};
  default:
    return {store_errc::not_found, "object " + to_string(id) + " is not in store \"" + store_.settings.name + "\""};
  }
}

// --- Writing ---------------------------------------------------------------------------------------------------------

std::expected<new_object, store_error> attachment::create(std::size_t size_bytes, std::span<const std::byte> metadata,
                                                          std::span<const object_id> captured,
                                                          std::chrono::milliseconds grace,
                                                          const std::source_location& where,
                                                          const object_origin& origin, bool grows) {
  if (captured.size() > captured_max)
    return std::unexpected(too_many_captured(captured.size()));
  if (metadata.size() > metadata_bytes_max)
    return std::unexpected(
        store_error{store_errc::invalid_argument, "metadata of " + grouped(metadata.size()) + " bytes, at most "
                                                      + grouped(metadata_bytes_max) + " are possible"});
  const auto wanted = creation{size_bytes, static_cast<std::uint32_t>(metadata.size()),
                               captured,   store_.self.slot,
                               own_pid(),  call_site_of(where),
                               origin,     grows};
  const auto capacity = view_.header().capacity_bytes;
  if (size_bytes > capacity || extent_length(size_bytes, metadata.size()) > capacity)
    return create_in_own_file(wanted, metadata);
  auto index = no_row;
  if (auto made = create_committed(std::span{&wanted, 1}, std::span{&index, 1}, grace); !made)
    return std::unexpected(made.error());
  const auto& row = view_.object(index);
  auto* const base = writable_ + row.offset;
  if (!metadata.empty())
    std::memcpy(base, metadata.data(), metadata.size());
  reach(crash_point::create_finished);
  return new_object{
      index, row.generation.load(), {base + round_up(metadata.size(), alignment_bytes), size_bytes}, nullptr};
}

std::expected<std::vector<new_object>, store_error> attachment::create_all(std::span<const std::size_t> sizes_bytes,
                                                                           std::chrono::milliseconds grace,
                                                                           const std::source_location& where) {
  auto wanted = std::vector<creation>{};
  auto left = view_.header().capacity_bytes;
  const auto call_site = call_site_of(where);
  for (const auto size_bytes : sizes_bytes) {
    if (size_bytes > left || extent_length(size_bytes, 0) > left)
      return std::unexpected(
          full_error(size_bytes, "it is one of " + grouped(sizes_bytes.size()) + " that do not fit together"));
    left -= extent_length(size_bytes, 0);
    wanted.push_back({size_bytes, 0, {}, store_.self.slot, own_pid(), call_site, {}});
  }
  auto indexes = std::vector<std::uint32_t>(wanted.size());
  auto result = std::vector<new_object>{};
  result.reserve(wanted.size());
  if (auto made = create_committed(wanted, indexes, grace); !made)
    return std::unexpected(made.error());
  for (auto at = std::size_t{0}; at < indexes.size(); ++at) {
    const auto& row = view_.object(indexes[at]);
    result.push_back({indexes[at], row.generation.load(), {writable_ + row.offset, sizes_bytes[at]}, nullptr});
  }
  return result;
}

std::expected<void, store_error> attachment::capture(std::uint32_t index, std::span<const object_id> ids) {
  for (auto failures = 0;;) {
    auto what = outcome::done;
    auto count = std::size_t{0};
    {
      const auto guard = lock();
      if (!guard)
        return std::unexpected(guard.error());
      count = object_table(*guard).count_captured(index) + ids.size();
      if (count <= captured_max)
        what = object_table(*guard).capture(index, ids);
    }
    if (count > captured_max)
      return std::unexpected(too_many_captured(count));
    if (what == outcome::done)
      return {};
    if (what != outcome::need_edges)
      return std::unexpected(error_of_captured(what, ids));
    if (auto grown = grow_or_reap(what, failures); !grown)
      return grown;
  }
}

std::expected<void, store_error> attachment::seal(std::uint32_t index, std::size_t size_bytes, bool shrunk) {
  if (!usable())
    return check_usable();
  if (shrunk) {
    const auto guard = lock();
    if (!guard)
      return std::unexpected(guard.error());
    object_table(*guard).shrink(index, size_bytes);
  }
  auto& row = view_.object(index);
  if (shrunk && row.place != 0)
    cut_own_file(index);
  assert(row.state.load() == object_state::writing);
  if (protects_sealed_ && row.place == 0)
    protect_whole_pages(extent_of(index));
  std::atomic_ref{row.spill_checksum}.store(0, std::memory_order_relaxed);
  row.state.store(object_state::sealed); // Release: who reads `sealed` reads all bytes.
  reach(crash_point::seal_published);
  announce();
  return {};
}

/// Nobody else writes there before the object is sealed.
void attachment::note_progress(std::uint32_t index) noexcept {
  if (forked() || !usable())
    return;
  const auto signs = std::atomic_ref{view_.object(index).spill_checksum};
  signs.store(signs.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

std::optional<std::uint32_t> attachment::progress_of(const object_id& id) const noexcept {
  if (!is_being_written(id))
    return std::nullopt;
  return std::atomic_ref{view_.object(id.index).spill_checksum}.load(std::memory_order_relaxed);
}

void attachment::abort(std::uint32_t index) noexcept {
  if (forked())
    return;
  if (usable()) // Else the row may be another object's.
    view_.object(index).state.store(object_state::aborted);
  reach(crash_point::abort_marked);
  release(index);
}

// --- Holding ---------------------------------------------------------------------------------------------------------

std::expected<held_object, store_error> attachment::find(const object_id& id) {
  const auto guard = lock();
  if (!guard)
    return std::unexpected(guard.error());
  return find_locked(*guard, id);
}

std::vector<std::expected<held_object, store_error>> attachment::find_all(std::span<const object_id> ids) {
  auto result = std::vector<std::expected<held_object, store_error>>{};
  result.reserve(ids.size());
  while (result.size() < ids.size()) {
    const auto guard = lock();
    const auto batch = ids.subspan(result.size());
    if (!guard) { // Once is enough.
      result.insert(result.end(), batch.size(), std::unexpected(guard.error()));
      break;
    }
    for (const auto& id : batch.first(std::min<std::size_t>(batch.size(), reclaim_batch)))
      result.push_back(find_locked(*guard, id));
  }
  return result;
}

std::expected<held_object, store_error> attachment::find_locked(table_held held, const object_id& id) {
  if (const auto what = object_table(held).look_up(id); what != outcome::done)
    return std::unexpected(error_of(what, id));
  hold(id.index);
  reach(crash_point::find_held);
  touch(held, id.index);
  return held_object{id.index, id.generation};
}

bool attachment::contains(const object_id& id) const {
  return usable() && reader_.look_up(id) == outcome::done;
}

/// Requires: it has one.
std::span<std::byte> attachment::extent_of(std::uint32_t index) const {
  const auto& row = view_.object(index);
  return {writable_ + row.offset, extent_length(row.size_bytes.load(), row.metadata_bytes)};
}

void attachment::touch(table_held held, std::uint32_t index) noexcept {
  if (lies_in_memory(view_.object(index)))
    lru_list(held).touch(index);
}

void attachment::hold(std::uint32_t index) noexcept {
  counts_.at(index).holds.increment([&] {
    keep();
    set_bit(view_.object(index).holders, store_.self.slot);
  });
}

/// A new object: no bit of it is set, and nobody else knows it.
void attachment::hold_new(std::uint32_t index) noexcept {
  counts_.at(index).holds.begin([&] {
    keep();
    set_only_bit(view_.object(index).holders, store_.self.slot);
  });
}

void attachment::retain(std::uint32_t index) noexcept {
  if (!forked())
    counts_.at(index).holds.increment([] { assert(!"copied from a handle that holds nothing"); });
}

void attachment::release(std::uint32_t index) noexcept {
  if (forked())
    return;
  auto is_last_here = false;
  auto cleared = clearing::leaves_others;
  counts_.at(index).holds.decrement([&] {
    is_last_here = true;
    if (usable()) // Else the bit was reaped, and may be that of a new process in our slot.
      cleared = clear_hold(index);
  });
  if (cleared != clearing::leaves_others) {
    if (cleared == clearing::was_last && any_hint(view_.hints())) // It held many others.
      in_background(job::reclaim);
    remove_spill_files_if_wanted();
    announce();
  }
  if (is_last_here)
    let_go(); // Last: nothing of this may be left.
}

/// Clears this process's bit, and frees the object if it was the last one.
attachment::clearing attachment::clear_hold(std::uint32_t index) noexcept {
  auto& holders = view_.object(index).holders;
  if (const auto guard = try_lock_table(view_, store_.self.slot)) {
    clear_bit_locked(holders, store_.self.slot);
    reach(crash_point::release_cleared);
    if (has_any_bit(holders))
      return clearing::leaves_others;
    object_table(*guard).free_if_unreferenced(index);
    return clearing::was_last;
  }
  clear_bit(holders, store_.self.slot);
  if (has_any_bit(holders))
    return clearing::leaves_others;
  give_hint(view_.hints(), index);
  reach(crash_point::release_hinted);
  if (view_.header().lock_owner.load() == no_slot) // It was given back, perhaps before there was a hint.
    reclaim_hinted(view_, store_.self.slot);
  return clearing::was_last_and_is_hinted;
}

std::size_t attachment::size_of(std::uint32_t index) const {
  return view_.object(index).size_bytes.load();
}

std::expected<std::vector<object_id>, store_error> attachment::captured(std::uint32_t index) {
  auto ids = std::array<object_id, captured_max>{};
  auto count = std::size_t{0};
  {
    const auto guard = lock();
    if (!guard)
      return std::unexpected(guard.error());
    count = object_table(*guard).list_captured(index, ids);
  }
  return std::vector(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(count));
}

// --- Handing over ----------------------------------------------------------------------------------------------------

std::expected<void, store_error> attachment::hand_over(std::uint32_t index, std::uint32_t generation,
                                                       const process_id& to, std::uint64_t channel) {
  const auto key = flight_key{index, generation, store_.self, to, channel};
  for (auto failures = 0;;) {
    {
      const auto guard = lock();
      if (!guard)
        return std::unexpected(guard.error());
      const auto what = object_table(*guard).add_flight(key, view_.slot(store_.self.slot).pid.load());
      if (what == outcome::done)
        return {};
      if (what != outcome::need_flights)
        return std::unexpected(error_of(what, {number(), index, generation}));
    }
    if (auto grown = grow(outcome::need_flights); !grown) {
      if (failures++ > 0)
        return grown;
      if (auto reaped = reap(); !reaped) // Entries to dead processes may be enough.
        return std::unexpected(reaped.error());
    }
  }
}

void attachment::take_back(std::uint32_t index, std::uint32_t generation, const process_id& to, std::uint64_t channel) {
  const auto guard = lock();
  if (!guard)
    return;
  if (const auto flight = object_table(*guard).find_flight({index, generation, store_.self, to, channel});
      flight != no_row)
    object_table(*guard).take_flight(flight);
}

std::expected<held_object, store_error> attachment::adopt(const object_id& id, const process_id& from,
                                                          std::uint64_t channel) {
  const auto guard = lock();
  if (!guard)
    return std::unexpected(guard.error());
  if (const auto what = object_table(*guard).look_up(id); what != outcome::done)
    return std::unexpected(error_of(what, id));
  const auto flight = object_table(*guard).find_flight({id.index, id.generation, from, store_.self, channel});
  if (flight == no_row)
    return std::unexpected(store_error{store_errc::not_found,
                                       "object " + to_string(id) + " is not in flight from process " + to_string(from)
                                           + " to this one on channel " + std::to_string(channel)});
  hold(id.index); // Before the entry goes: in between the object has two holders, never none.
  touch(*guard, id.index);
  reach(crash_point::adopt_held);
  object_table(*guard).take_flight(flight);
  return held_object{id.index, id.generation};
}

namespace {

/// Whom `self` exchanges that entry with, in either direction; nobody when it is between others.
[[nodiscard]] std::optional<process_id> other_end(const flight_entry& flight, const process_id& self) {
  const auto from = process_id{flight.from_slot, flight.from_nonce};
  const auto to = process_id{flight.to_slot, flight.to_nonce};
  if (from == self)
    return to;
  if (to == self)
    return from;
  return std::nullopt;
}

} // namespace

std::expected<void, store_error> attachment::abandon(const process_id& peer, std::uint64_t channel) {
  if (auto usable = check_usable(); !usable)
    return usable;
  if (peer != store_.self) { // Within one process nobody is late.
    const auto lock = std::lock_guard{ended_mutex_};
    ended_.emplace(peer, channel);
  }
  auto dropped = drop_flights(view_, store_.self.slot, settings().lock_timeout, [&](const flight_entry& flight) {
    return flight.channel == channel && other_end(flight, store_.self) == peer;
  });
  reclaim_hinted(view_, store_.self.slot);
  return dropped;
}

std::expected<void, store_error> attachment::drop_ended_channels() {
  const auto copy_of = [this] {
    const auto lock = std::lock_guard{ended_mutex_};
    return ended_;
  };
  const auto ended = copy_of();
  if (ended.empty())
    return {};
  // Who is gone before the entries are looked at sends no more.
  auto gone = ended;
  std::erase_if(gone, [&](const auto& channel) { return reader_.is_attached(channel.first); });
  auto dropped = drop_flights(view_, store_.self.slot, settings().lock_timeout, [&](const flight_entry& flight) {
    const auto peer = other_end(flight, store_.self);
    return peer && ended.contains({*peer, flight.channel});
  });
  if (!dropped)
    return dropped;
  const auto lock = std::lock_guard{ended_mutex_};
  for (const auto& channel : gone)
    ended_.erase(channel);
  return {};
}

bool attachment::shares_with(const process_id& peer) const {
  return check_lock_file() && reader_.is_attached(peer) && (peer == store_.self || store_.lock.is_locked(peer.slot));
}

// --- Looking after it ------------------------------------------------------------------------------------------------

std::expected<std::size_t, store_error> attachment::reap() {
  if (auto usable = check_lock_file(); !usable)
    return std::unexpected(usable.error());
  view_.header().looked_ns.store(monotonic_ns(), std::memory_order_relaxed); // Nobody else has to, for a while.
  const auto reaped = reap_dead(view_, store_.lock, store_.self.slot, store_.settings.lock_timeout);
  if (!reaped)
    return reaped;
  if (auto dropped = drop_ended_channels(); !dropped)
    return std::unexpected(dropped.error());
  if (auto reclaimed = reclaim_all(view_, store_.self.slot, store_.settings.lock_timeout); !reclaimed)
    return std::unexpected(reclaimed.error());
  if (auto removed = remove_spill_files(); !removed)
    return std::unexpected(removed.error());
  if (*reaped > 0)
    announce();
  return reaped;
}

std::expected<store_summary, store_error> attachment::summary(const summary_query& what) {
  if (auto guard = lock(); !guard)
    return std::unexpected(guard.error());
  if (auto reaped = reap(); !reaped)
    return std::unexpected(reaped.error());
  auto collected = collect_summary(view_, store_, what);
  if (collected)
    for (auto& row : collected->rows) {
      const auto& own = counts_.at(row.id.index);
      row.own_pins = own.pins.value();
      row.own_handles = own.holds.value() - std::min(own.holds.value(), row.own_pins);
    }
  return collected;
}

std::expected<store_summary, store_error> attachment::totals() {
  if (auto usable = check_usable(); !usable)
    return std::unexpected(usable.error());
  return collect_totals(view_, store_);
}

std::expected<void, store_error> attachment::verify() {
  const auto guard = lock();
  if (!guard)
    return std::unexpected(guard.error());
  try {
    if (auto checked = internal::verify(*guard); !checked)
      return std::unexpected(
          store_error{store_errc::corrupt, "the store's table contradicts itself: " + checked.error()});
  } catch (const std::bad_alloc&) {
    return std::unexpected(store_error{store_errc::system_failure, "out of memory"});
  }
  return {};
}

} // namespace troupe::store::internal
