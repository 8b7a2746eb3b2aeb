// Looking at everything at once.
#include <troupe/framework/internal/handles/ledger.hpp>

namespace troupe::internal::handles {

ledger_rows ledger::rows(std::uint32_t first, std::uint32_t count) const {
  ledger_rows result{.now = options_.clock(), .entries = {}};
  const auto size = static_cast<std::uint32_t>(entries_.size());
  const auto end = first + std::min(count, size - std::min(size, first));
  result.are_all = end >= size;
  for (auto index = first; index < end; ++index) {
    const auto& which = entries_[index];
    if (which.state == entry_state::free)
      continue;
    const reference what{index, which.generation};
    auto& row = result.entries.emplace_back();
    row.known_as = what;
    row.references = which.references;
    if (which.state == entry_state::moved) {
      row.moved_to = resolve(what);
    } else {
      row.is_lost = which.state == entry_state::lost;
      if (which.state == entry_state::here)
        row.place = which.place;
      row.is_unfinished = which.parts != nullptr;
      row.name = row.is_unfinished ? proxy_name(what) : which.name;
      row.source = which.link;
      if (const auto link = links_.find(which.link); link != links_.end())
        row.is_source_lost = link->second.phase == link_phase::grace;
      row.size_bytes = which.size_bytes;
      row.since = which.since;
      row.is_fetched = which.fetch != nullptr;
      row.received_bytes = which.fetch ? which.fetch->received_bytes : 0;
    }
    for (auto each = exports_of_.lower_bound({what, 0, {}}); each != exports_of_.end() && std::get<0>(*each) == what;
         ++each) {
      const auto& [of, number, name] = *each;
      const auto link = links_.find(number);
      if (link == links_.end())
        continue;
      if (const auto exported = link->second.exports.find(name); exported != link->second.exports.end())
        row.exports.push_back({.link = number,
                               .phase = link->second.phase,
                               .count = exported->second.count,
                               .since = exported->second.since});
    }
  }
  return result;
}

} // namespace troupe::internal::handles
