// What must hold between events. For tests.
#include <troupe/framework/internal/handles/ledger.hpp>

#include <algorithm>

namespace troupe::internal::handles {

std::string_view ledger::broken_entry(const entry& which, reference what) const {
  using enum entry_state;
  if (!which.wanted())
    return "an entry that nothing wants";
  if (which.link != 0 && which.state != remote && which.state != here)
    return "an import of what is neither remote nor here";
  if (which.link != 0) {
    auto link = links_.find(which.link);
    if (link == links_.end())
      return "an import over a link that is forgotten";
    auto known = link->second.imports.find(which.name);
    if (known == link->second.imports.end() || known->second != what)
      return "an entry and its link do not agree";
    if (which.count > 0 && link->second.phase != link_phase::up)
      return "a count on a lost link";
  }
  if (which.state != remote && (which.adopting != 0 || which.reclaiming != 0 || which.fetch || which.offer))
    return "something is sought for what is not remote";
  if (which.state == remote && which.link == 0 && which.adopting == 0
      && (!which.fetch || which.fetch->step != fetch_step::sealing))
    return "a remote entry without a source is not lost";
  if (which.state == moved && find(which.target) == nullptr)
    return "an entry has moved to nowhere";
  if (which.touched)
    return "an entry that was not looked at";
  return which.fetch ? broken_fetch(which, what) : std::string_view{};
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
  bool asks = fetch.step == asking || (fetch.step == receiving && fetch.received_bytes < which.size_bytes);
  const auto* source = up_link(which.link);
  if (asks != (fetch.request != 0) || (asks && (source == nullptr || !source->requests.contains(fetch.request))))
    return "a fetch and its question do not agree";
  if (fetch.budget->imports > options_.fetch_imports_max || fetch.captured.size() > options_.captured_max)
    return "a fetch has imported too much";
  for (const auto& each : fetch.waiters) {
    const auto* outer = std::get_if<outer_waiter>(&each);
    const auto* peer = std::get_if<peer_waiter>(&each);
    if (outer != nullptr && !rooms_.contains(outer->room))
      return "a fetch whose outer one has ended";
    const auto* asker = peer != nullptr ? up_link(peer->link) : nullptr;
    if (peer != nullptr && (asker == nullptr || !asker->servings.contains(peer->request)))
      return "a fetch for a peer that does not wait";
  }
  return {};
}

std::string_view ledger::broken_link(const link_record& which) const {
  for (const auto& [name, record] : which.exports) {
    if (record.count == 0 || find(record.what) == nullptr)
      return "an export counts nothing, or is of nothing";
    if (record.vouchers.size() > options_.vouchers_max)
      return "too many vouchers";
  }
  for (const auto& [name, what] : which.imports) {
    const auto* found = find(what);
    if (found == nullptr || found->link != which.number || found->name != name)
      return "a link and its import do not agree";
  }
  std::size_t adoptions = 0;
  for (const auto& [number, asked] : which.requests) {
    adoptions += asked.what == open_request::kind::adopt;
    const auto* about = find(asked.about);
    if (asked.what == open_request::kind::pull
        && (about == nullptr || !about->fetch || about->fetch->request != number))
      return "a pull that no fetch knows";
  }
  if (adoptions != which.adoptions || adoptions > options_.adoptions_max)
    return "too many adoptions, or miscounted";
  for (const auto& [request, each] : which.servings) {
    auto record = which.exports.find(each.name);
    if (record == which.exports.end())
      return "what is served is not exported";
    const auto* from = find(resolve(record->second.what));
    if (!each.sending && (!from->fetch || !from->fetch->waiters.contains(peer_waiter{which.number, request})))
      return "a pull that waits for nothing";
  }
  if (which.parked.size() > options_.parked_max || which.servings.size() > options_.servings_max
      || which.dialed.size() > options_.dials_max)
    return "more than a peer may make this node keep";
  if (which.phase == link_phase::grace
      && (!which.requests.empty() || !which.servings.empty() || !which.parked.empty() || !which.dialed.empty()))
    return "a lost link still has questions";
  return {};
}

std::string_view ledger::broken_invariant() const {
  if (!touched_.empty())
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
    if (entries_[index].dependents < dependents[index]) // Drafts count too.
      return "an entry counts too few dependents";
  return {};
}

} // namespace troupe::internal::handles
