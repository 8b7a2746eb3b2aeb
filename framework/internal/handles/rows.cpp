// Looking at everything at once.
#include <troupe/framework/internal/handles/ledger.hpp>

#include <unordered_map>

namespace troupe::internal::handles {

ledger_rows ledger::rows() const {
  ledger_rows result{.now = options_.clock(), .entries = {}};
  std::unordered_map<std::uint32_t, std::size_t> row_of; // By the entry's number.
  for (std::uint32_t index = 0; index < entries_.size(); ++index) {
    const auto& which = entries_[index];
    if (which.state == entry_state::free || which.state == entry_state::moved)
      continue;
    row_of.emplace(index, result.entries.size());
    auto& row = result.entries.emplace_back();
    row.known_as.push_back({index, which.generation});
    row.is_lost = which.state == entry_state::lost;
    if (which.state == entry_state::here)
      row.place = which.place;
    row.is_unfinished = which.parts != nullptr;
    row.name = row.is_unfinished ? proxy_name({index, which.generation}) : which.name;
    row.source = which.link;
    if (const auto link = links_.find(which.link); link != links_.end())
      row.is_source_lost = link->second.phase == link_phase::grace;
    row.references = which.references;
    row.size_bytes = which.size_bytes;
    row.since = which.since;
    row.is_fetched = which.fetch != nullptr;
    row.received_bytes = which.fetch ? which.fetch->received_bytes : 0;
  }
  // What has moved counts where it has moved to.
  const auto row_for = [&](reference what) -> entry_row* {
    const auto found = row_of.find(resolve(what).index);
    return found != row_of.end() ? &result.entries[found->second] : nullptr;
  };
  for (std::uint32_t index = 0; index < entries_.size(); ++index)
    if (const reference what{index, entries_[index].generation}; entries_[index].state == entry_state::moved)
      if (auto* row = row_for(what)) {
        row->known_as.push_back(what);
        row->references += entries_[index].references;
      }
  for (const auto& [number, link] : links_)
    for (const auto& [name, exported] : link.exports)
      if (auto* row = row_for(exported.what))
        row->exports.push_back({.link = number, .phase = link.phase, .count = exported.count, .since = exported.since});
  return result;
}

} // namespace troupe::internal::handles
