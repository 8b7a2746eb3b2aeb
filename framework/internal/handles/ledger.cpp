// Entries, and what refers to them. The other parts of the ledger: sending.cpp, links.cpp, adoption.cpp, pulling.cpp,
// unfinished.cpp, serving.cpp, timing.cpp, invariants.cpp.
#include <troupe/framework/internal/handles/ledger.hpp>

#include <algorithm>
#include <cassert>
#include <limits>

namespace troupe::internal::handles {

ledger::ledger(ledger_options options, local_objects& objects)
    : options_(std::move(options)),
      objects_(objects),
      dials_({options_.dials_max, options_.adopt_patience}, timers_),
      vouchers_({options_.vouchers_max, options_.link_vouchers_max}) {}

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
    entries_.emplace_back().generation = first_generation_;
  } else {
    index = free_entries_.extract(free_entries_.begin()).value();
  }
  enter(entries_[index], state);
  entries_[index].since = now_;
  return {index, entries_[index].generation};
}

/// A reference to a local object, which the ledger holds from now on.
reference ledger::refer_to(const object_id& place) {
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

void ledger::enter(entry& which, entry_state next) {
  assert(may_follow(which.state, next));
  which.state = next;
}

// -- the beginning and the end of an event

void ledger::begin_event() {
  assert(!is_in_event_);
  is_in_event_ = true;
  now_ = std::max(now_, options_.clock());
}

/// Has it looked at when the event ends. To be called wherever something that an entry needs may have gone.
void ledger::touch(reference what) {
  auto& which = at(what);
  if (!std::exchange(which.touched, true))
    touched_.push_back(what);
}

/// The same for a link: where there may be room for more, or nothing left to wait for.
void ledger::touch(link_number link) {
  touched_links_.insert(link);
}

void ledger::unrefer(reference what) {
  assert(at(what).references > 0);
  --at(what).references;
  touch(what);
}

void ledger::undepend(reference what) {
  assert(at(what).dependents > 0);
  --at(what).dependents;
  touch(what);
}

void ledger::end_event() {
  do {
    while (!touched_.empty()) {
      auto what = touched_.back();
      touched_.pop_back();
      settle(what);
    }
    for (auto link : std::exchange(touched_links_, {}))
      settle(link);
  } while (!touched_.empty());
  is_in_event_ = false;
}

/// What has room begins; a lost link of which nothing is left is forgotten.
void ledger::settle(link_number link) {
  auto found = links_.find(link);
  if (found == links_.end())
    return;
  auto& which = found->second;
  if (which.phase == link_phase::up) {
    begin_pulls(which, which.pulls_of_own);
    begin_pulls(which, which.pulls_behind);
    ask_adoptions(which);
  } else if (which.exports.empty() && which.imports.empty()) {
    end_grace(link);
  }
}

/// Draws the conclusions from what an entry has left: a fetch that failed, or that nobody waits for, ends; without a
/// source it is lost; what nothing wants is freed.
void ledger::settle(reference what) {
  auto* found = find(what);
  if (found == nullptr)
    return;
  auto& which = *found;
  which.touched = false;
  if (which.fetch && which.fetch->waiters.empty())
    (void)stop(what);
  bool is_sealing = which.fetch && which.fetch->step == fetch_step::sealing;
  if (const auto* loss = lost_part(which)) {
    which.loss = *loss;
    lose(what);
  }
  if (which.state == entry_state::remote && which.link == 0 && which.adopting == 0 && !is_sealing && !which.parts)
    lose(what);
  if (which.fetch && which.fetch->failed.code != handle_errc::none)
    answer_failed(what);
  if (which.parts && which.fetch && which.fetch->step == fetch_step::waiting)
    begin_finishing(what);
  if (!which.wanted())
    free(what);
}

/// Nothing wants the entry any more: what it held is let go, what was imported is released.
void ledger::free(reference what) {
  auto& which = at(what);
  leave_adoption(what);
  set_offer(what, std::nullopt);
  forget_import(what);
  forget_parts(what);
  marks_.erase(which.own_mark);
  if (which.state == entry_state::here) {
    if (auto known = places_.find(which.place); known != places_.end() && known->second == what)
      places_.erase(known);
    objects_.drop(which.place);
  } else if (which.state == entry_state::moved) {
    moved_to_.erase({which.target, what});
    undepend(which.target);
  }
  enter(which, entry_state::free);
  auto generation = which.generation;
  which = entry{};
  which.generation = generation;
  if (generation < std::numeric_limits<std::uint32_t>::max()) { // Else it is retired: no name comes back.
    ++which.generation;
    free_entries_.insert(what.index);
    shrink();
  }
}

/// The table gets no larger than what lasts: free rows at its end go, and new ones there begin with generations that
/// none of those had. Rows that were used very often stay, so that the new ones can be used often, too.
void ledger::shrink() {
  constexpr auto generation_max = std::numeric_limits<std::uint32_t>::max() / 2;
  while (!entries_.empty() && entries_.back().generation <= generation_max
         && free_entries_.erase(static_cast<std::uint32_t>(entries_.size() - 1)) > 0) {
    first_generation_ = std::max(first_generation_, entries_.back().generation);
    entries_.pop_back();
  }
}

/// The entry is nobody's import any more; what was counted is released while the link is up.
void ledger::forget_import(reference what) {
  auto& which = at(what);
  if (which.link == 0)
    return;
  release_count(which);
  leave_queue(which);
  links_.at(which.link).imports.erase(which.name);
  touch(which.link);
  which.link = 0;
  which.reclaiming = 0;
}

void ledger::release_count(entry& which) {
  auto count = std::exchange(which.count, 0);
  if (count > 0 && up_link(which.link) != nullptr)
    send(which.link, release{which.name, count});
}

/// The source is gone for good. Everybody behind the entry is told, and releases it then; so is who is behind what has
/// moved to it. What it is a part of is looked at next.
void ledger::lose(reference what) {
  enter(at(what), entry_state::lost);
  set_offer(what, std::nullopt);
  forget_parts(what);
  fail(what, at(what).loss);
  std::vector<std::pair<link_number, object_id>> behind;
  for (std::vector<reference> left{what}; !left.empty();) {
    auto next = left.back();
    left.pop_back();
    for (auto each = exports_of_.lower_bound({next, 0, {}}); each != exports_of_.end() && std::get<0>(*each) == next;
         ++each)
      behind.emplace_back(std::get<1>(*each), std::get<2>(*each));
    for (auto each = moved_to_.lower_bound({next, {}}); each != moved_to_.end() && each->first == next; ++each)
      left.push_back(each->second);
    for (auto each = part_of_.lower_bound({next, {}}); each != part_of_.end() && each->first == next; ++each)
      touch(each->second);
  }
  for (const auto& [number, name] : behind) {
    auto& link = links_.at(number);
    if (link.phase == link_phase::up)
      send(number, lost{name});
    else
      drop_export(link, link.exports.find(name));
  }
}

/// The entry is `target` from now on, whose one reference of the caller becomes a dependent.
void ledger::move_to(reference what, reference target) {
  auto& onto = at(target);
  ++onto.dependents;
  --onto.references;
  auto& which = at(what);
  auto waiters = stop(what);
  leave_adoption(what);
  set_offer(what, std::nullopt);
  forget_import(what);
  which.target = target;
  moved_to_.emplace(target, what);
  enter(which, entry_state::moved);
  for (auto each = moved_to_.lower_bound({what, {}}); each != moved_to_.end() && each->first == what;) {
    auto former = each->second; // It follows at once: chains do not grow with each move.
    each = moved_to_.erase(each);
    moved_to_.emplace(target, former);
    at(former).target = target;
    ++onto.dependents;
    undepend(what);
  }
  for (const auto& each : waiters)
    add_waiter(resolve(target), each);
  touch(what);
}

link_record* ledger::up_link(link_number link) {
  auto found = links_.find(link);
  return found != links_.end() && found->second.phase == link_phase::up ? &found->second : nullptr;
}

const link_record* ledger::up_link(link_number link) const {
  return const_cast<ledger*>(this)->up_link(link);
}

link_record* ledger::up_link_to(const node_name& peer) {
  if (auto known = links_to_.find(peer); known != links_to_.end())
    for (auto number : known->second)
      if (auto* found = up_link(number))
        return found;
  return nullptr;
}

void ledger::send(link_number link, message what) {
  want(send_message{link, std::move(what)});
}

// -- references of the application

reference ledger::add(const object_id& place) {
  return refer_to(place);
}

void ledger::retain(reference what) {
  ++at(what).references;
}

void ledger::drop(reference what) {
  in_event([&] { unrefer(what); });
}

std::optional<object_id> ledger::place_of(reference what) const {
  const auto* found = find(resolve(what));
  if (found == nullptr || found->state != entry_state::here)
    return std::nullopt;
  return found->place;
}

std::optional<fetch_error> ledger::loss_of(reference what) const {
  const auto* found = find(resolve(what));
  if (found == nullptr)
    return fetch_error{.code = handle_errc::object_lost};
  return found->state == entry_state::lost ? std::optional{found->loss} : std::nullopt;
}

bool ledger::is_behind(reference what) const {
  const auto* found = find(resolve(what));
  return found != nullptr && found->state == entry_state::remote && found->mode == handle_mode::behind;
}

ledger_tables ledger::tables() const {
  ledger_tables result;
  result.rows = entries_.size();
  for (const auto& each : entries_) {
    result.entries += each.state != entry_state::free;
    result.fetches += each.fetch != nullptr;
  }
  for (const auto& [number, link] : links_) {
    ++(link.phase == link_phase::up ? result.links_up : result.links_in_grace);
    result.exports += link.exports.size();
    result.imports += link.imports.size();
    result.requests += link.questions.size();
    result.servings += link.servings.size();
    result.parked += link.parked.size();
  }
  result.vouchers = vouchers_.size();
  result.dialed = dials_.size();
  result.waiters = waits_.size();
  result.rooms = rooms_.size();
  return result;
}

} // namespace troupe::internal::handles
