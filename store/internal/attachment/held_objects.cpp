#include <troupe/store/internal/attachment/held_objects.hpp>

#include <troupe/store/internal/host/crash_point.hpp>
#include <troupe/store/internal/table/hints.hpp>
#include <troupe/store/internal/table/table_lock.hpp>

#include <algorithm>
#include <cassert>

namespace troupe::store::internal {

void held_objects::hold(table_held, std::uint32_t index) noexcept {
  counts_.at(index).holds.add(hold_reason::reference, [&] {
    users_.add();
    set_bit(view_.object(index).holders, member_.self().slot);
  });
}

void held_objects::hold_new(table_held, std::uint32_t index) noexcept {
  counts_.at(index).holds.begin(hold_reason::unfinished, [&] {
    users_.add();
    set_only_bit(view_.object(index).holders, member_.self().slot);
  });
}

void held_objects::retain(std::uint32_t index, hold_reason why) noexcept {
  if (member_.forked())
    return;
  counts_.at(index).holds.add(why, [] { assert(!"copied from a handle that holds nothing"); });
}

void held_objects::recount(std::uint32_t index, hold_reason from, hold_reason to) noexcept {
  if (member_.forked())
    return;
  counts_.at(index).holds.change(from, to);
}

bool held_objects::release(std::uint32_t index, hold_reason why) noexcept {
  if (member_.forked())
    return false;
  auto is_last_here = false;
  auto cleared = clearing::leaves_others;
  counts_.at(index).holds.remove(why, [&] {
    is_last_here = true;
    if (member_.is_valid()) // Otherwise the bit was reaped and may belong to a new process in this slot.
      cleared = clear_hold(index);
  });
  if (cleared != clearing::leaves_others) {
    if (cleared == clearing::was_last && any_hint(view_.hints())) // It captured many other objects.
      unasked_.want(job::reclaim);
    files_.remove_all_soon();
    changes_.announce();
  }
  return is_last_here && users_.remove(); // The last access to this object, which may be destroyed afterwards.
}

bool held_objects::abort(std::uint32_t index) noexcept {
  if (member_.forked())
    return false;
  if (member_.is_valid()) // Otherwise the row may belong to another object.
    view_.object(index).state.store(object_state::aborted);
  reach(crash_point::abort_marked);
  return release(index, hold_reason::unfinished);
}

/// Clears this process's bit, and frees the object if no bit is left.
held_objects::clearing held_objects::clear_hold(std::uint32_t index) noexcept {
  const auto slot = member_.self().slot;
  auto& holders = view_.object(index).holders;
  if (const auto guard = try_lock_table(view_, slot)) {
    clear_bit_locked(holders, slot);
    reach(crash_point::release_cleared);
    if (has_any_bit(holders))
      return clearing::leaves_others;
    object_table(*guard).free_if_unreferenced(index);
    return clearing::was_last;
  }
  clear_bit(holders, slot);
  if (has_any_bit(holders))
    return clearing::leaves_others;
  give_hint(view_.hints(), index);
  reach(crash_point::release_hinted);
  if (view_.header().lock_owner.load() == no_slot) // The lock was released, perhaps before the hint was given.
    reclaim_hinted(view_, slot);
  return clearing::was_last_and_is_hinted;
}

void held_objects::retain_pin(std::uint32_t index) noexcept {
  if (member_.forked())
    return;
  auto& row = view_.object(index);
  counts_.at(index).pins.increment([&] {
    if (!member_.is_valid())
      return;
    set_bit(row.pinners, member_.self().slot);
    reach(crash_point::pin_marked);
  });
  if (row.used.load(std::memory_order_relaxed) == 0)
    row.used.store(1, std::memory_order_relaxed);
}

void held_objects::release_pin(std::uint32_t index) noexcept {
  if (member_.forked())
    return;
  counts_.at(index).pins.decrement([&] {
    if (!member_.is_valid())
      return;
    clear_bit(view_.object(index).pinners, member_.self().slot);
    reach(crash_point::unpin_cleared);
  });
}

held_objects::own held_objects::own_of(std::uint32_t index) const {
  const auto& counts = counts_.at(index);
  const auto pins = counts.pins.now().count;
  const auto holds = counts.holds.count();
  return {holds - std::min(holds, pins), pins, counts.holds.values()};
}

} // namespace troupe::store::internal
