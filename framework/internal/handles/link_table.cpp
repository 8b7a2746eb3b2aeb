#include <troupe/framework/internal/handles/link_table.hpp>

namespace troupe::internal::handles {

std::string_view link_record::broken_invariant() const {
  if ((phase == link_phase::grace) != grace_ends.is_set() || !grace_ends.is_in_order())
    return "a grace without an end";
  if (phase == link_phase::grace
      && (questions.size() > 0 || !servings.empty() || !parked.empty() || !pulls_of_own.empty() || !pulls_behind.empty()
          || !adoptions.empty() || !unclaimed.empty() || pause.is_on()))
    return "a lost link still has questions";
  if (phase == link_phase::grace && exports.empty() && imports.empty())
    return "a lost link that has nothing";
  for (const auto& [name, record] : exports)
    if (record.count == 0 || record.reclaimed > record.count)
      return "an export that counts nothing";
  for (auto text : {questions.broken_invariant(), adoptions.broken_invariant(), pulls_of_own.broken_invariant(),
                    pulls_behind.broken_invariant(), servings.broken_invariant(), parked.broken_invariant(),
                    pause.broken_invariant()})
    if (!text.empty())
      return text;
  return {};
}

link_record* link_table::add(link_number number, const node_name& peer, bool shares_store) {
  const auto [place, fresh] = links_.try_emplace(number, number, peer, shares_store, timers_, options_);
  if (!fresh)
    return nullptr;
  to_[peer].insert(number);
  return &place->second;
}

void link_table::forget(link_number number) {
  const auto known = links_.find(number);
  const auto to_peer = to_.find(known->second.peer);
  to_peer->second.erase(number);
  if (to_peer->second.empty())
    to_.erase(to_peer);
  links_.erase(known);
}

link_record* link_table::find(link_number number) {
  return const_cast<link_record*>(std::as_const(*this).find(number));
}

const link_record* link_table::find(link_number number) const {
  const auto known = links_.find(number);
  return known != links_.end() ? &known->second : nullptr;
}

link_record* link_table::up(link_number number) {
  return const_cast<link_record*>(std::as_const(*this).up(number));
}

const link_record* link_table::up(link_number number) const {
  const auto* found = find(number);
  return found != nullptr && found->phase == link_phase::up ? found : nullptr;
}

link_record* link_table::up_to(const node_name& peer) {
  for (auto number : to(peer))
    if (auto* found = up(number))
      return found;
  return nullptr;
}

const std::set<link_number>& link_table::to(const node_name& peer) const {
  static const std::set<link_number> none;
  const auto known = to_.find(peer);
  return known != to_.end() ? known->second : none;
}

std::string_view link_table::broken_invariant() const {
  if (!touched_.empty())
    return "a link that was not looked at";
  std::size_t to_all = 0;
  for (const auto& [peer, numbers] : to_)
    to_all += numbers.size();
  if (to_all != links_.size())
    return "links to peers that are not links";
  for (const auto& [number, link] : links_) {
    if (!to(link.peer).contains(number))
      return "a link that its peer's do not know";
    if (auto text = link.broken_invariant(); !text.empty())
      return text;
  }
  return {};
}

} // namespace troupe::internal::handles
