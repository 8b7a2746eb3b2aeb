#include <troupe/framework/internal/handles/entry_table.hpp>

#include <algorithm>
#include <cassert>
#include <limits>

namespace troupe::internal::handles {

reference entry_table::make(entry_state state) {
  std::uint32_t index = 0;
  if (free_.empty()) {
    index = size();
    rows_.emplace_back().generation = first_generation_;
  } else {
    index = free_.extract(free_.begin()).value();
  }
  auto& made = rows_[index];
  assert(may_follow(made.state, state));
  made.state = state;
  made.since = clock_.now();
  return {index, made.generation};
}

reference entry_table::refer_to(const object_id& place) {
  const auto [known, fresh] = places_.try_emplace(place);
  if (fresh) {
    objects_.hold(place);
    known->second = make(entry_state::here);
    auto& made = at(known->second);
    made.place = place;
    made.size_bytes = objects_.size_of(place);
  }
  refer(known->second);
  return known->second;
}

entry* entry_table::find(reference what) {
  return const_cast<entry*>(std::as_const(*this).find(what));
}

const entry* entry_table::find(reference what) const {
  if (what.generation == 0 || what.index >= rows_.size())
    return nullptr;
  const auto& found = rows_[what.index];
  return found.generation == what.generation && found.state != entry_state::free ? &found : nullptr;
}

entry& entry_table::at(reference what) {
  return const_cast<entry&>(std::as_const(*this).at(what));
}

const entry& entry_table::at(reference what) const {
  const auto* found = find(what);
  assert(found != nullptr);
  return *found;
}

reference entry_table::resolve(reference what) const {
  const auto* found = find(what);
  while (found != nullptr && found->state == entry_state::moved) {
    what = found->target;
    found = find(what);
  }
  return what;
}

void entry_table::enter(reference what, entry_state next) {
  auto& which = at(what);
  assert(may_follow(which.state, next));
  which.state = next;
}

void entry_table::touch(reference what) {
  if (!std::exchange(at(what).touched, true))
    touched_.push_back(what);
}

std::optional<reference> entry_table::take_touched() {
  if (touched_.empty())
    return std::nullopt;
  const auto what = touched_.back();
  touched_.pop_back();
  if (auto* found = find(what); found != nullptr)
    found->touched = false;
  return what;
}

void entry_table::unrefer(reference what) {
  assert(at(what).references > 0);
  --at(what).references;
  touch(what);
}

void entry_table::undepend(reference what) {
  assert(at(what).dependents > 0);
  --at(what).dependents;
  touch(what);
}

void entry_table::move(reference what, reference target) {
  auto& onto = at(target);
  ++onto.dependents;
  --onto.references;
  at(what).target = target;
  moved_to_.emplace(target, what);
  enter(what, entry_state::moved);
  for (const auto former : moved_to(what)) { // They follow at once, so that chains do not grow with each move.
    moved_to_.erase({what, former});
    moved_to_.emplace(target, former);
    at(former).target = target;
    ++onto.dependents;
    undepend(what);
  }
}

std::vector<reference> entry_table::moved_to(reference target) const {
  std::vector<reference> result;
  for (auto each = moved_to_.lower_bound({target, {}}); each != moved_to_.end() && each->first == target; ++each)
    result.push_back(each->second);
  return result;
}

void entry_table::free(reference what) {
  auto& which = at(what);
  if (which.state == entry_state::here) {
    if (auto known = places_.find(which.place); known != places_.end() && known->second == what)
      places_.erase(known);
    objects_.drop(which.place);
  } else if (which.state == entry_state::moved) {
    moved_to_.erase({which.target, what});
    undepend(which.target);
  }
  enter(what, entry_state::free);
  const auto generation = which.generation;
  which = entry{};
  which.generation = generation;
  if (generation < std::numeric_limits<std::uint32_t>::max()) { // Otherwise the row is retired: no name is used twice.
    ++which.generation;
    free_.insert(what.index);
    shrink();
  }
}

/// Removes free rows at the table's end, so that the table stays as small as its long-lived rows allow. New rows there
/// start with a generation that none of the removed rows had. Rows with very high generations stay, so that new rows
/// keep enough generations.
void entry_table::shrink() {
  constexpr auto generation_max = std::numeric_limits<std::uint32_t>::max() / 2;
  while (!rows_.empty() && rows_.back().generation <= generation_max && free_.erase(size() - 1) > 0) {
    first_generation_ = std::max(first_generation_, rows_.back().generation);
    rows_.pop_back();
  }
}

std::string_view entry_table::broken_invariant() const {
  if (has_touched())
    return "an entry that was not looked at";
  std::size_t moved = 0;
  for (std::uint32_t index = 0; index < size(); ++index) {
    const auto& each = rows_[index];
    if (each.state == entry_state::free)
      continue;
    if (!each.wanted())
      return "an entry that nothing wants";
    if (each.touched)
      return "an entry that was touched and is not looked at";
    if (each.state != entry_state::moved)
      continue;
    ++moved;
    if (find(each.target) == nullptr || !moved_to_.contains({each.target, reference_of(index)}))
      return "an entry has moved to nowhere";
  }
  if (moved != moved_to_.size())
    return "what has moved and has not";
  for (const auto& [place, what] : places_)
    if (const auto* found = find(what); found == nullptr || found->state != entry_state::here || found->place != place)
      return "a place that is not there";
  return {};
}

} // namespace troupe::internal::handles
