// What must hold between events. For tests.
#include <troupe/framework/internal/handles/ledger.hpp>

#include <algorithm>

namespace troupe::internal::handles {

std::string_view ledger::broken_entry(const entry& which, reference what) const {
  using enum entry_state;
  if (!which.wanted())
    return "an entry that nothing wants";
  if (auto text = broken_source(which, what); !text.empty())
    return text;
  if (which.state != remote && (which.adopting != 0 || which.reclaiming != 0 || which.fetch || which.offer))
    return "something is sought for what is not remote";
  if (which.parts && (which.state != remote || which.link != 0 || which.offer || lost_part(which) != nullptr))
    return "an unfinished object that cannot be finished";
  if (which.state == remote && which.link == 0 && which.adopting == 0 && !which.parts
      && (!which.fetch || which.fetch->step != fetch_step::sealing))
    return "a remote entry without a source is not lost";
  if (which.state == moved && (find(which.target) == nullptr || !moved_to_.contains({which.target, what})))
    return "an entry has moved to nowhere";
  if (which.offer && !offers_.contains({*which.offer, what}))
    return "an offer that cannot be found";
  if (auto left = marks_.find(which.own_mark); which.own_mark != 0 && (left == marks_.end() || left->second != what))
    return "a mark that cannot be found";
  if (which.touched)
    return "an entry that was not looked at";
  return which.fetch ? broken_fetch(which, what) : std::string_view{};
}

std::string_view ledger::broken_source(const entry& which, reference what) const {
  using enum entry_state;
  if (which.adopting != 0) {
    const auto* over = up_link(which.adopting);
    if (over == nullptr)
      return "an adoption over a lost link";
    auto row = over->offerers.find(which.offered_by);
    bool is_queued = row != over->offerers.end() && row->second.queued.contains(what);
    if ((which.adopt_request == 0) != is_queued || (!is_queued && !over->requests.contains(which.adopt_request)))
      return "an adoption that neither waits nor was asked for";
  }
  if (which.link == 0)
    return {};
  if (which.state != remote && which.state != here)
    return "an import of what is neither remote nor here";
  auto link = links_.find(which.link);
  if (link == links_.end())
    return "an import over a link that is forgotten";
  auto known = link->second.imports.find(which.name);
  if (known == link->second.imports.end() || known->second != what)
    return "an entry and its link do not agree";
  if (which.count > 0 && link->second.phase != link_phase::up)
    return "a count on a lost link";
  return {};
}

std::string_view ledger::broken_fetch(const entry& which, reference what) const {
  const auto& fetch = *which.fetch;
  using enum fetch_step;
  if (fetch.waiters.empty())
    return "a fetch that nobody waits for";
  if (fetch.failed.code != handle_errc::none)
    return "a fetch has failed and nobody was told";
  auto room = rooms_.find(fetch.room);
  if ((fetch.step == waiting) != (fetch.room == 0)
      || (fetch.room != 0 && (room == rooms_.end() || room->second != what)))
    return "a fetch and its room do not agree";
  bool asks = fetch.step == asking || (fetch.step == receiving && !fetch.waits_for_captured());
  const auto* source = up_link(which.link);
  if (asks != (fetch.request != 0) || (asks && (source == nullptr || !source->requests.contains(fetch.request))))
    return "a fetch and its question do not agree";
  if (which.parts && fetch.step == waiting)
    return "an unfinished object that nobody finishes";
  if (fetch.is_queued != (fetch.step == waiting && source != nullptr)
      || (fetch.is_queued && !source->pulls_of_own.queued.contains(fetch.turn)
          && !source->pulls_behind.queued.contains(fetch.turn)))
    return "a fetch whose turn will never come";
  if (fetch.has_slot != (asks || fetch.step == making_room))
    return "a fetch counts as a pull and is none, or the other way round";
  if ((fetch.deadline == never) != (fetch.step == waiting || fetch.step == sealing))
    return "a fetch without patience, or with too much";
  if (fetch.budget->imports > options_.fetch_imports_max || fetch.captured.size() > options_.captured_max)
    return "a fetch has imported too much";
  return broken_waiters(fetch, what);
}

std::string_view ledger::broken_waiters(const fetch_state& fetch, reference what) const {
  for (const auto& each : fetch.waiters) {
    if (const auto* outside = std::get_if<outside_waiter>(&each)) {
      auto known = waits_.find(outside->waiter);
      if (known == waits_.end() || known->second.what != what)
        return "a caller that waits elsewhere";
    } else if (const auto* outer = std::get_if<outer_waiter>(&each)) {
      if (!rooms_.contains(outer->room))
        return "a fetch whose outer one has ended";
    } else {
      auto [link, request] = std::get<peer_waiter>(each);
      const auto* asker = up_link(link);
      if (asker == nullptr || !asker->servings.contains(request))
        return "a fetch for a peer that does not wait";
    }
  }
  std::set<reference> awaited;
  for (auto each : fetch.captured) {
    auto inner = resolve(each);
    const auto* found = find(inner);
    if (found != nullptr && found->fetch && found->fetch->waiters.contains(outer_waiter{what, fetch.room}))
      awaited.insert(inner);
  }
  if (awaited.size() != fetch.awaited)
    return "a fetch that waits for more, or less, than it captures";
  return {};
}

std::string_view ledger::broken_exports(const link_record& which) const {
  std::size_t vouchers = 0;
  for (const auto& [name, record] : which.exports) {
    if (record.count == 0 || record.reclaimed > record.count || find(record.what) == nullptr)
      return "an export counts nothing, or is of nothing";
    if (!exports_of_.contains({record.what, which.number, name}))
      return "an export that cannot be found";
    if (record.vouchers.size() > options_.vouchers_max)
      return "too many vouchers";
    vouchers += record.vouchers.size();
    for (auto request : record.servings)
      if (!which.servings.contains(request))
        return "an export is served to nobody";
    for (auto age : record.vouchers.all())
      if (auto known = which.vouchers.find(age); known == which.vouchers.end() || known->second.name != name)
        return "a voucher and its export do not agree";
  }
  if (vouchers != which.vouchers.size() || vouchers != which.ages.size() || vouchers > options_.link_vouchers_max)
    return "too many vouchers on a link, or of what is not exported";
  return {};
}

std::string_view ledger::broken_questions(const link_record& which) const {
  std::size_t adoptions = 0;
  for (const auto& [number, asked] : which.requests) {
    const auto* about = find(asked.about);
    if (asked.what == open_request::kind::pull
        && (about == nullptr || !about->fetch || about->fetch->request != number))
      return "a pull that no fetch knows";
    if (asked.what != open_request::kind::adopt)
      continue;
    ++adoptions;
    if (about == nullptr || about->adopting != which.number || about->adopt_request != number)
      return "an adoption that nobody waits for";
  }
  std::size_t asked = 0;
  for (const auto& [offerer, row] : which.offerers) {
    asked += row.asked;
    bool has_turn = !row.queued.empty() && row.asked < options_.adoptions_offered_max;
    if (row.asked > options_.adoptions_offered_max || has_turn != which.turns.contains(offerer))
      return "adoptions that have no turn, or too many";
  }
  if (adoptions != which.adoptions || asked != adoptions || adoptions > options_.adoptions_max)
    return "too many adoptions, or miscounted";
  const bool is_up = which.phase == link_phase::up;
  if (is_up && !which.adoptions_are_paused && adoptions < options_.adoptions_max && !which.turns.empty())
    return "there is room for an adoption, and nobody takes it";
  const bool may_pull = is_up && !which.pulls_are_paused;
  for (const auto* each : {&which.pulls_of_own, &which.pulls_behind})
    if (each->asked > options_.pulls_max || (may_pull && each->asked < each->asked_max && !each->queued.empty()))
      return "there is room for a pull, and nobody takes it";
    else if (!each->queued.empty() && each->asked_max < options_.pulls_max && which.retry == never)
      return "a source that was busy once, and is never asked for more again";
  if ((which.pulls_are_paused || which.adoptions_are_paused) && which.retry == never)
    return "a link that rests for ever";
  return {};
}

std::string_view ledger::broken_servings(const link_record& which) const {
  std::size_t behind = 0;
  for (const auto& [request, each] : which.servings) {
    behind += is_proxy(each.name);
    auto record = which.exports.find(each.name);
    if (record == which.exports.end() || !record->second.servings.contains(request))
      return "what is served is not exported";
    const auto* from = find(resolve(record->second.what));
    bool waits = from->fetch && from->fetch->waiters.contains(peer_waiter{which.number, request});
    if (waits != (each.next == serving::step::fetching) || waits == which.ready.contains(request))
      return "a pull that waits for nothing";
  }
  if (which.ready.size() > which.servings.size() || which.parked.size() != which.parked_names.size())
    return "a pull or an adoption that was forgotten in part";
  if (which.parked.size() > options_.parked_max || behind != which.servings_behind || behind > options_.servings_max
      || which.servings.size() - behind > options_.servings_max || which.unclaimed.size() > options_.unclaimed_max)
    return "more than a peer may make this node keep";
  return {};
}

std::string_view ledger::broken_link(const link_record& which) const {
  for (const auto& [name, what] : which.imports) {
    const auto* found = find(what);
    if (found == nullptr || found->link != which.number || found->name != name)
      return "a link and its import do not agree";
  }
  if (which.phase == link_phase::grace
      && (!which.requests.empty() || !which.servings.empty() || !which.parked.empty()
          || !which.pulls_of_own.queued.empty() || !which.pulls_behind.queued.empty() || which.pulls_of_own.asked > 0
          || which.pulls_behind.asked > 0 || !which.offerers.empty() || !which.unclaimed.empty()
          || which.retry != never))
    return "a lost link still has questions";
  if (which.phase == link_phase::grace && which.exports.empty() && which.imports.empty())
    return "a lost link that has nothing";
  for (auto part : {&ledger::broken_exports, &ledger::broken_questions, &ledger::broken_servings})
    if (auto text = (this->*part)(which); !text.empty())
      return text;
  return {};
}

/// Each deadline that the tables name.
std::set<timer> ledger::wanted_timers() const {
  std::set<timer> wanted;
  for (const auto& [who, waited] : waits_)
    if (waited.deadline != never)
      wanted.insert({waited.deadline, timer::kind::waiter, who, 0});
  for (std::uint32_t index = 0; index < entries_.size(); ++index)
    if (const auto& each = entries_[index]; each.fetch && each.fetch->deadline != never)
      wanted.insert(timer_of({index, each.generation}, each.fetch->deadline));
  for (const auto& [number, link] : links_) {
    if (link.phase == link_phase::grace)
      wanted.insert({link.grace_ends, timer::kind::grace, number, 0});
    if (link.retry != never)
      wanted.insert({link.retry, timer::kind::retry, number, 0});
    for (const auto& [request, asked] : link.requests)
      if (asked.what != open_request::kind::pull)
        wanted.insert({asked.deadline, timer::kind::question, number, request});
    for (const auto& [request, parked] : link.parked)
      wanted.insert({parked.deadline, timer::kind::parked, number, request});
  }
  for (const auto& [offerer, dials] : dials_)
    for (const auto& each : dials)
      wanted.insert({each.expires, timer::kind::dials, offerer, 0});
  return wanted;
}

/// That they have no row too many; that none is missing is looked at with what they are of.
std::string_view ledger::broken_indices() const {
  std::size_t exports = 0;
  std::size_t vouchers = 0;
  std::size_t up = 0;
  for (const auto& [number, link] : links_) {
    exports += link.exports.size();
    vouchers += link.vouchers.size();
    auto to_peer = links_to_.find(link.peer);
    up += to_peer != links_to_.end() && to_peer->second.contains(number);
  }
  if (exports != exports_of_.size() || vouchers != vouchers_.size() || up != links_.size())
    return "an index of links that is wrong";
  std::size_t offers = 0;
  std::size_t moved = 0;
  std::size_t waiters = 0;
  std::size_t marks = 0;
  std::set<std::pair<reference, reference>> parts;
  for (std::uint32_t index = 0; index < entries_.size(); ++index) {
    const auto& each = entries_[index];
    for (auto part : each.parts ? *each.parts : std::vector<reference>{})
      parts.emplace(part, reference{index, each.generation});
    offers += each.offer.has_value();
    marks += each.own_mark != 0;
    moved += each.state == entry_state::moved;
    if (each.fetch)
      waiters += static_cast<std::size_t>(std::ranges::count_if(
          each.fetch->waiters, [](const waiter& who) { return std::holds_alternative<outside_waiter>(who); }));
  }
  if (offers != offers_.size() || moved != moved_to_.size() || waiters != waits_.size() || marks != marks_.size()
      || parts != part_of_)
    return "an index of entries that is wrong";
  for (const auto& [offerer, dials] : dials_)
    if (dials.empty() || dials.size() > options_.dials_max)
      return "more than a peer may make this node dial";
  if (timers_ != wanted_timers())
    return "the deadlines are not those of the tables";
  return {};
}

std::string_view ledger::broken_invariant() const {
  if (is_in_event_ || !touched_.empty() || !touched_links_.empty())
    return "an event has not ended";
  std::vector<std::uint64_t> dependents(entries_.size());
  for (const auto& [number, link] : links_) {
    if (auto text = broken_link(link); !text.empty())
      return text;
    for (const auto& [name, record] : link.exports)
      ++dependents[record.what.index];
  }
  for (std::uint32_t index = 0; index < entries_.size(); ++index) {
    const auto& each = entries_[index];
    if (each.state == entry_state::free)
      continue;
    if (auto text = broken_entry(each, {index, each.generation}); !text.empty())
      return text;
    if (each.state == entry_state::moved)
      ++dependents[each.target.index];
  }
  for (std::size_t index = 0; index < entries_.size(); ++index)
    if (entries_[index].state != entry_state::free && entries_[index].dependents != dependents[index])
      return "an entry counts others than its dependents";
  return broken_indices();
}

} // namespace troupe::internal::handles
