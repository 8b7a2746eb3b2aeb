#include <troupe/store/internal/liveness/reaping.hpp>

#include <troupe/store/internal/host/crash_point.hpp>

#include <algorithm>
#include <array>
#include <vector>

namespace troupe::store::internal {

namespace {

constexpr auto batch_rows = std::uint32_t{1024};

/// Whether the slot still belongs to the dead process, and was not reaped by another process meanwhile.
[[nodiscard]] bool is_still(table_held held, const process_id& dead) {
  const auto& slot = held.view().slot(dead.slot);
  return slot.state.load() != slot_state::free && slot.nonce.load() == dead.nonce;
}

/// The dead processes' slots that one pass reaps.
class dead_slots {
public:
  void add(const process_id& dead) { all_.push_back(dead); }

  /// Drops slots that another process has reaped meanwhile. Returns whether any slots are left.
  bool keep_those_that_still_are(table_held held) {
    std::erase_if(all_, [&](const process_id& dead) { return !is_still(held, dead); });
    mask_ = {};
    for (const auto& dead : all_)
      mask_[dead.slot / 64] |= std::uint64_t{1} << dead.slot % 64;
    return !all_.empty();
  }

  [[nodiscard]] bool has(std::uint32_t slot) const {
    return slot < slots_max && (mask_[slot / 64] >> slot % 64 & 1) != 0;
  }

  [[nodiscard]] bool has(std::uint32_t slot, std::uint64_t nonce) const {
    return has(slot) && std::ranges::find(all_, process_id{slot, nonce}) != all_.end();
  }

  void clear_in(slot_bits& bits) const {
    for (auto word = std::size_t{0}; word < bits.size(); ++word)
      if ((bits[word].load() & mask_[word]) != 0)
        bits[word].fetch_and(~mask_[word]);
  }

  [[nodiscard]] const std::vector<process_id>& all() const { return all_; }

private:
  std::vector<process_id> all_;
  std::array<std::uint64_t, slots_max / 64> mask_{};
};

/// Slots in use whose byte no process has locked.
[[nodiscard]] dead_slots find_dead(control_view view, const lock_file& lock, std::uint32_t self) {
  auto dead = dead_slots{};
  for (auto index = std::uint32_t{0}; index < slots_max; ++index) {
    const auto& slot = view.slot(index);
    if (index == self || slot.state.load() == slot_state::free)
      continue;
    const auto nonce = slot.nonce.load(); // Before the byte, which a process locks first and unlocks last.
    if (!lock.is_locked(index))
      dead.add({index, nonce});
  }
  return dead;
}

void reap_row(table_held held, std::uint32_t index, const dead_slots& dead) {
  auto table = object_table(held);
  auto& row = held.view().object(index);
  const auto state = row.state.load();
  if (state == object_state::free)
    return;
  if (state == object_state::writing) {
    if (dead.has(row.creator_slot))
      table.free_unfinished(index);
    return;
  }
  if (dead.has(row.worker_slot)) {
    if (state == object_state::spilling)
      table.give_up_spill(index);
    else if (state == object_state::restoring)
      table.give_up_restore(index);
  }
  dead.clear_in(row.pinners);
  dead.clear_in(row.outside_pinners);
  dead.clear_in(row.holders);
  table.free_if_unreferenced(index); // Also frees rows that a dead process released without a hint.
}

[[nodiscard]] std::expected<void, store_error> mark(control_view view, dead_slots& dead, std::uint32_t self,
                                                    std::chrono::milliseconds timeout) {
  const auto guard = lock_table(view, self, timeout);
  if (!guard)
    return std::unexpected(guard.error());
  dead.keep_those_that_still_are(*guard);
  for (const auto& each : dead.all())
    view.slot(each.slot).state.store(slot_state::reaping); // From now on no process hands anything over to it.
  reach(crash_point::reap_marked);
  return {};
}

[[nodiscard]] std::expected<void, store_error> reap_rows(control_view view, dead_slots& dead, std::uint32_t self,
                                                         std::chrono::milliseconds timeout) {
  for (auto first = std::uint32_t{0};; first += batch_rows) {
    let_others_go_first(view);
    const auto guard = lock_table(view, self, timeout);
    if (!guard)
      return std::unexpected(guard.error());
    const auto used = view.header().objects.used;
    if (!dead.keep_those_that_still_are(*guard) || first >= used)
      return {};
    for (auto index = first; index < std::min(first + batch_rows, used); ++index)
      reap_row(*guard, index, dead);
    reach(crash_point::reap_batch_done);
  }
}

[[nodiscard]] std::expected<std::size_t, store_error>
free_slots(control_view view, dead_slots& dead, std::uint32_t self, std::chrono::milliseconds timeout) {
  const auto guard = lock_table(view, self, timeout);
  if (!guard)
    return std::unexpected(guard.error());
  if (dead.keep_those_that_still_are(*guard)) // A dead process may have been writing or removing a file.
    view.header().spill_files_to_remove.store(1);
  view.header().lock_waiting.store(0, std::memory_order_relaxed); // A process may have died while it waited.
  for (const auto& each : dead.all()) {
    view.slot(each.slot).state.store(slot_state::free);
    reach(crash_point::reap_slot_freed);
  }
  return dead.all().size();
}

} // namespace

std::expected<std::size_t, store_error> reap_dead(control_view view, const lock_file& lock, std::uint32_t self,
                                                  std::chrono::milliseconds timeout) {
  auto dead = find_dead(view, lock, self);
  if (dead.all().empty())
    return 0;
  if (auto marked = mark(view, dead, self, timeout); !marked)
    return std::unexpected(marked.error());
  if (auto cleared = reap_rows(view, dead, self, timeout); !cleared)
    return std::unexpected(cleared.error());
  const auto to_dead = [&](const flight_entry& flight) { return dead.has(flight.to_slot, flight.to_nonce); };
  if (auto dropped = drop_flights(view, self, timeout, to_dead); !dropped)
    return std::unexpected(dropped.error());
  reach(crash_point::reap_flights_dropped);
  return free_slots(view, dead, self, timeout);
}

std::expected<void, store_error> reclaim_all(control_view view, std::uint32_t self, std::chrono::milliseconds timeout) {
  for (auto more = true; more;) {
    let_others_go_first(view);
    const auto guard = lock_table(view, self, timeout);
    if (!guard)
      return std::unexpected(guard.error());
    more = object_table(*guard).reclaim(batch_rows);
  }
  return {};
}

} // namespace troupe::store::internal
