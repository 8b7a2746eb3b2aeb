#include <troupe/framework/internal/handles/receiving.hpp>

namespace troupe::internal::handles {

std::optional<std::vector<reference>> receiving::import_all(link_record& from,
                                                            std::span<const handle_descriptor> handles, came how) {
  std::vector<reference> result;
  result.reserve(handles.size());
  for (const auto& handle : handles) {
    const auto imported = import_one(from, handle, how);
    if (!imported) {
      for (auto each : result)
        entries_.unrefer(each);
      return std::nullopt;
    }
    result.push_back(*imported);
  }
  return result;
}

std::optional<reference> receiving::import_one(link_record& from, const handle_descriptor& handle, came how) {
  if (handle.mode == handle_mode::yours) {
    const auto own = from.exports.find(handle.name);
    if (own == from.exports.end())
      return std::nullopt;
    entries_.refer(own->second.what);
    return own->second.what;
  }
  if (handle.mode == handle_mode::shared)
    return import_shared(from, handle);
  const bool is_behind = handle.mode == handle_mode::behind;
  const bool is_marked = handle.offer || handle.mark != 0 || handle.hops != 0;
  if ((!is_behind && (handle.mode != handle_mode::mine || from.shares_store)) || (is_marked && !is_behind))
    return std::nullopt;
  if (const auto own = find_at_home(from, handle))
    return own;
  const auto counted = imports_.count(from, handle, entry_state::remote);
  if (!counted)
    return std::nullopt;
  const auto what = counted->what;
  if (entries_.at(what).state == entry_state::here)
    imports_.release(what); // The replica needs no source.
  else if (how == came::in_message && come_round(what, handle.mark))
    return what;
  else if (handle.offer)
    adopting_.take_offer(what, *handle.offer, from.number);
  return what;
}

/// An object that was put into this store has come back. Uses the original instead of any copy.
std::optional<reference> receiving::find_at_home(const link_record& from, const handle_descriptor& handle) {
  if (!handle.home || !objects_.hold_at_home(*handle.home, handle.size_bytes))
    return std::nullopt;
  const auto own = entries_.refer_to(handle.home->name);
  objects_.drop(handle.home->name); // The entry has a hold of its own.
  give_back_one(from, handle.name);
  return own;
}

/// If the mark shows that this node forwarded the handle before, the new entry becomes the earlier one. Returns false
/// if it does not, or if the entry cannot be moved, for example because others already depend on it.
bool receiving::come_round(reference what, std::uint64_t mark) {
  const auto known = marks_.find(mark);
  const auto& which = entries_.at(what);
  if (!known || which.state != entry_state::remote || which.dependents > 0 || which.fetch)
    return false;
  const auto target = entries_.resolve(*known);
  const auto& onto = entries_.at(target);
  const bool has_way = onto.state == entry_state::here || onto.parts || links_.up(onto.link) != nullptr;
  if (target == what || onto.state == entry_state::lost || !has_way || onto.size_bytes != which.size_bytes)
    return false;
  entries_.refer(target);
  whole_.move_to(what, target);
  return true;
}

/// Makes a hold of this node from the count in flight.
std::optional<reference> receiving::import_shared(link_record& from, const handle_descriptor& handle) {
  if (!from.shares_store || handle.offer)
    return std::nullopt;
  const auto adoption = objects_.adopt(handle.name, from.number);
  if (adoption == local_objects::adoption::absent)
    return std::nullopt;
  if (adoption == local_objects::adoption::busy)
    return import_unclaimed(from, handle);
  const auto counted = handle.size_bytes == objects_.size_of(handle.name)
                           ? imports_.count(from, handle, entry_state::here)
                           : std::nullopt;
  if (!counted) {
    objects_.drop(handle.name);
    return std::nullopt;
  }
  auto& which = entries_.at(counted->what);
  if (counted->is_new) {
    which.place = handle.name;
  } else if (which.state == entry_state::remote) { // Exported over a link without a store, and reclaimed over this one.
    fetches_.finish(counted->what, handle.name);
  } else {
    // The entry already has one hold, and must not come to depend on an entry that may depend on it by now.
    objects_.drop(handle.name);
    --which.count;
    give_back_one(from, handle.name);
  }
  return counted->what;
}

/// The store could not be asked. The handle is lost, and claim() ends the flight as soon as possible.
std::optional<reference> receiving::import_unclaimed(link_record& from, const handle_descriptor& handle) {
  if (from.unclaimed.size() >= options_.unclaimed_max)
    return std::nullopt;
  from.unclaimed.push_back(handle.name);
  from.pause.begin(end_of_pause());
  give_back_one(from, handle.name);
  const auto gone = entries_.make(entry_state::lost);
  entries_.refer(gone);
  entries_.at(gone).size_bytes = handle.size_bytes;
  return gone;
}

void receiving::claim(link_record& from) {
  while (!from.unclaimed.empty()) {
    const auto place = from.unclaimed.back();
    const auto adoption = objects_.adopt(place, from.number);
    if (adoption == local_objects::adoption::busy)
      return from.pause.begin(end_of_pause());
    if (adoption == local_objects::adoption::done)
      objects_.drop(place);
    from.unclaimed.pop_back();
  }
}

void receiving::give_back_one(const link_record& from, const object_id& name) {
  actions_.send(from.number, release{name, 1});
}

} // namespace troupe::internal::handles
