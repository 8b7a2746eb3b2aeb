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
    bool is_queued = over->adoptions.is_queued(what, which.offered_by);
    bool is_asked = over->questions.find(which.adopt_request) != nullptr;
    if ((which.adopt_request == 0) != is_queued || is_asked == is_queued)
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
  if (asks != (fetch.request != 0) || (asks && (source == nullptr || source->questions.find(fetch.request) == nullptr)))
    return "a fetch and its question do not agree";
  if (which.parts && fetch.step == waiting)
    return "an unfinished object that nobody finishes";
  if (fetch.is_queued != (fetch.step == waiting && source != nullptr)
      || (fetch.is_queued && !source->pulls_of_own.is_queued(fetch.turn)
          && !source->pulls_behind.is_queued(fetch.turn)))
    return "a fetch whose turn will never come";
  if (fetch.has_slot != (asks || fetch.step == making_room))
    return "a fetch counts as a pull and is none, or the other way round";
  if (fetch.patience.is_set() == (fetch.step == waiting || fetch.step == sealing) || !fetch.patience.is_in_order())
    return "a fetch without patience, or with too much";
  if (fetch.budget->imports > options_.fetch_imports_max || fetch.captured.size() > options_.captured_max)
    return "a fetch has imported too much";
  return broken_waiters(fetch, what);
}

std::string_view ledger::broken_waiters(const fetch_state& fetch, reference what) const {
  for (const auto& each : fetch.waiters) {
    if (const auto* outside = std::get_if<outside_waiter>(&each)) {
      auto known = waits_.find(outside->waiter);
      if (known == waits_.end() || known->second.what != what || !known->second.limit.is_in_order())
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
  for (const auto& [name, record] : which.exports) {
    if (record.count == 0 || record.reclaimed > record.count || find(record.what) == nullptr)
      return "an export counts nothing, or is of nothing";
    if (!exports_of_.contains({record.what, which.number, name}))
      return "an export that cannot be found";
  }
  return {};
}

std::string_view ledger::broken_questions(const link_record& which) const {
  std::string_view broken;
  std::size_t adoptions = 0;
  which.questions.for_each([&](request_number number, const open_request& asked) {
    const auto* about = find(asked.about);
    if (asked.what == open_request::kind::pull
        && (about == nullptr || !about->fetch || about->fetch->request != number))
      broken = "a pull that no fetch knows";
    if (asked.what != open_request::kind::adopt)
      return;
    ++adoptions;
    if (about == nullptr || about->adopting != which.number || about->adopt_request != number)
      broken = "an adoption that nobody waits for";
  });
  if (!broken.empty())
    return broken;
  if (adoptions != which.adoptions.asked())
    return "adoptions that are asked and do not count";
  const bool is_up = which.phase == link_phase::up;
  if (is_up && !which.pause.is_for_adoptions() && which.adoptions.has_next())
    return "there is room for an adoption, and nobody takes it";
  for (const auto* each : {&which.pulls_of_own, &which.pulls_behind})
    if (is_up && !which.pause.is_for_pulls() && each->has_next())
      return "there is room for a pull, and nobody takes it";
    else if (each->is_held_back() && !which.pause.is_on())
      return "a source that was busy once, and is never asked for more again";
  return {};
}

std::string_view ledger::broken_servings(const link_record& which) const {
  std::string_view broken;
  which.servings.for_each([&](request_number request, const serving& each) {
    auto record = which.exports.find(each.name);
    if (record == which.exports.end()) {
      broken = "what is served is not exported";
      return;
    }
    const auto* from = find(resolve(record->second.what));
    bool waits = from->fetch && from->fetch->waiters.contains(peer_waiter{which.number, request});
    if (waits != (each.next == serving::step::fetching))
      broken = "a pull that waits for nothing";
  });
  if (which.unclaimed.size() > options_.unclaimed_max)
    return "more than a peer may make this node keep";
  return broken;
}

std::string_view ledger::broken_link(const link_record& which) const {
  for (const auto& [name, what] : which.imports) {
    const auto* found = find(what);
    if (found == nullptr || found->link != which.number || found->name != name)
      return "a link and its import do not agree";
  }
  if (which.phase == link_phase::grace
      && (which.questions.size() > 0 || !which.servings.empty() || !which.parked.empty() || !which.pulls_of_own.empty()
          || !which.pulls_behind.empty() || !which.adoptions.empty() || !which.unclaimed.empty()
          || which.pause.is_on()))
    return "a lost link still has questions";
  if (which.grace_ends.is_set() != (which.phase == link_phase::grace) || !which.grace_ends.is_in_order())
    return "a grace without an end";
  if (which.phase == link_phase::grace && which.exports.empty() && which.imports.empty())
    return "a lost link that has nothing";
  for (auto text : {which.questions.broken_invariant(), which.adoptions.broken_invariant(),
                    which.pulls_of_own.broken_invariant(), which.pulls_behind.broken_invariant(),
                    which.servings.broken_invariant(), which.parked.broken_invariant(), which.pause.broken_invariant()})
    if (!text.empty())
      return text;
  for (auto part : {&ledger::broken_exports, &ledger::broken_questions, &ledger::broken_servings})
    if (auto text = (this->*part)(which); !text.empty())
      return text;
  return {};
}

/// That they have no row too many; that none is missing is looked at with what they are of.
std::string_view ledger::broken_indices() const {
  std::size_t exports = 0;
  std::size_t vouchers = 0; // Each of an export.
  std::size_t up = 0;
  for (const auto& [number, link] : links_) {
    exports += link.exports.size();
    for (const auto& [name, record] : link.exports)
      vouchers += vouchers_.size_of(number, name);
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
  for (auto text : {dials_.broken_invariant(), vouchers_.broken_invariant()})
    if (!text.empty())
      return text;
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
