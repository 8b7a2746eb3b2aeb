// Entries, and what refers to them. The other parts of the ledger: sending.cpp, links.cpp, pulling.cpp.
#include <troupe/framework/internal/handles/ledger.hpp>

#include <algorithm>
#include <cassert>
#include <limits>

namespace troupe::internal::handles {

ledger::ledger(ledger_options options, local_objects& objects) : options_(std::move(options)), objects_(objects) {}

// -- entries

entry* ledger::find(reference what) {
  if (what.generation == 0 || what.index >= entries_.size())
    return nullptr;
  auto& found = entries_[what.index];
  return found.generation == what.generation && found.state != entry_state::free ? &found : nullptr;
}

const entry* ledger::find(reference what) const {
  return const_cast<ledger*>(this)->find(what);
}

entry& ledger::at(reference what) {
  auto* found = find(what);
  assert(found != nullptr);
  return *found;
}

/// Follows where entries have moved. The result is not `moved`.
reference ledger::resolve(reference what) const {
  const auto* found = find(what);
  while (found != nullptr && found->state == entry_state::moved) {
    what = found->target;
    found = find(what);
  }
  return what;
}

reference ledger::make_entry(entry_state state) {
  std::uint32_t index = 0;
  if (free_entries_.empty()) {
    index = static_cast<std::uint32_t>(entries_.size());
    entries_.emplace_back().generation = 1;
  } else {
    index = free_entries_.back();
    free_entries_.pop_back();
  }
  enter(entries_[index], state);
  return {index, entries_[index].generation};
}

void ledger::enter(entry& which, entry_state next) {
  assert(may_follow(which.state, next));
  which.state = next;
}

/// Frees the entry if nothing wants it any more: what it held is let go, what was imported is released.
void ledger::settle(reference what) {
  auto* found = find(what);
  if (found == nullptr || found->wanted())
    return;
  forget_import(what);
  auto state = found->state;
  auto target = found->target;
  auto place = found->place;
  auto generation = found->generation;
  enter(*found, entry_state::free);
  *found = entry{};
  found->generation = generation;
  if (generation < std::numeric_limits<std::uint32_t>::max()) { // Else it is retired: no name comes back.
    ++found->generation;
    free_entries_.push_back(what.index);
  }
  if (state == entry_state::here) {
    if (auto known = places_.find(place); known != places_.end() && known->second == what)
      places_.erase(known);
    objects_.drop(place);
  } else if (state == entry_state::moved) {
    --at(target).dependents;
    settle(target);
  }
}

/// The entry is nobody's import any more; what was counted is released while the link is up.
void ledger::forget_import(reference what) {
  auto& which = at(what);
  if (which.link == 0)
    return;
  release_count(which);
  auto link = links_.find(which.link);
  if (link != links_.end()) {
    auto known = link->second.imports.find(which.name);
    if (known != link->second.imports.end() && known->second == what)
      link->second.imports.erase(known);
  }
  which.link = 0;
}

void ledger::release_count(entry& which) {
  auto count = std::exchange(which.count, 0);
  if (count > 0 && up_link(which.link) != nullptr)
    send(which.link, release{which.name, count});
}

/// The source is gone for good. What is complete, or may still be adopted elsewhere, is not lost.
void ledger::forsake(reference what) {
  auto& which = at(what);
  assert(which.link == 0);
  if (which.state != entry_state::remote || (which.fetch && which.fetch->step == fetch_step::sealing))
    return;
  if (which.adopting != 0)
    restart(what);
  else
    lose(what);
}

void ledger::lose(reference what) {
  auto& which = at(what);
  ++which.references; // Until the end of this function.
  enter(which, entry_state::lost);
  which.offer.reset();
  fail_fetch(what, handle_errc::object_lost);
  announce_loss(what);
  --which.references;
  settle(what);
}

/// Tells everybody behind this entry. They release then.
void ledger::announce_loss(reference what) {
  for (auto& [number, link] : links_) {
    for (auto at = link.exports.begin(); at != link.exports.end();) {
      auto behind = at++;
      if (resolve(behind->second.what) != what)
        continue;
      if (link.phase == link_phase::up)
        send(number, lost{behind->first});
      else
        drop_export(link, behind);
    }
  }
}

/// The entry is `target` from now on, whose one reference of the caller becomes a dependent.
void ledger::move_to(reference what, reference target) {
  auto& onto = at(target);
  ++onto.dependents;
  --onto.references;
  auto& which = at(what);
  forget_import(what);
  which.offer.reset();
  which.target = target;
  std::vector<waiter> waiters;
  if (which.fetch)
    waiters = std::move(which.fetch->waiters);
  ++which.references; // Until the end of this function.
  stop(which);
  enter(which, entry_state::moved);
  for (const auto& each : waiters)
    add_waiter(resolve(what), each);
  --which.references;
  settle(what);
}

link_record* ledger::up_link(link_number link) {
  auto found = links_.find(link);
  return found != links_.end() && found->second.phase == link_phase::up ? &found->second : nullptr;
}

void ledger::send(link_number link, message what) {
  want(send_message{link, std::move(what)});
}

// -- references of the application

reference ledger::add(const object_id& place) {
  auto [known, fresh] = places_.try_emplace(place);
  if (fresh) {
    objects_.hold(place);
    known->second = make_entry(entry_state::here);
    auto& made = at(known->second);
    made.place = place;
    made.size_bytes = objects_.size_of(place);
  }
  ++at(known->second).references;
  return known->second;
}

void ledger::retain(reference what) {
  ++at(what).references;
}

void ledger::drop(reference what) {
  auto& which = at(what);
  assert(which.references > 0);
  --which.references;
  settle(what);
}

std::optional<object_id> ledger::place_of(reference what) const {
  const auto* found = find(resolve(what));
  if (found == nullptr || found->state != entry_state::here)
    return std::nullopt;
  return found->place;
}

bool ledger::is_lost(reference what) const {
  const auto* found = find(resolve(what));
  return found == nullptr || found->state == entry_state::lost;
}

// -- looking

ledger_tables ledger::tables() const {
  ledger_tables result;
  for (const auto& each : entries_) {
    result.entries += each.state != entry_state::free;
    result.fetches += each.fetch != nullptr;
  }
  for (const auto& [number, link] : links_) {
    ++(link.phase == link_phase::up ? result.links_up : result.links_in_grace);
    result.exports += link.exports.size();
    result.imports += link.imports.size();
    result.requests += link.requests.size();
    result.servings += link.servings.size();
    result.parked += link.parked.size();
    for (const auto& [name, record] : link.exports)
      result.vouchers += record.vouchers.size();
  }
  result.rooms = rooms_.size();
  return result;
}

std::string_view ledger::broken_invariant() const {
  std::vector<std::uint64_t> dependents(entries_.size());
  for (const auto& [number, link] : links_) {
    for (const auto& [name, record] : link.exports) {
      if (record.count == 0 || find(record.what) == nullptr)
        return "an export counts nothing, or is of nothing";
      ++dependents[record.what.index];
    }
    for (const auto& [name, what] : link.imports) {
      const auto* found = find(what);
      if (found == nullptr || found->link != number || found->name != name)
        return "a link and its import do not agree";
    }
    if (link.phase == link_phase::grace && (!link.requests.empty() || !link.servings.empty() || !link.parked.empty()))
      return "a lost link still has questions";
  }
  for (const auto& each : entries_) {
    if (each.state == entry_state::moved) {
      if (find(each.target) == nullptr)
        return "an entry has moved to nowhere";
      ++dependents[each.target.index];
    }
    if (each.fetch && each.fetch->waiters.empty())
      return "a fetch that nobody waits for";
    if (each.fetch && each.state != entry_state::remote)
      return "a fetch of what is not remote";
    if (each.state == entry_state::remote && each.link == 0 && each.adopting == 0
        && (!each.fetch || each.fetch->step != fetch_step::sealing))
      return "a remote entry without a source is not lost";
  }
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].dependents < dependents[i]) // Drafts count too.
      return "an entry counts too few dependents";
    if (entries_[i].state != entry_state::free && !entries_[i].wanted())
      return "an entry that nothing wants";
  }
  return {};
}

} // namespace troupe::internal::handles
