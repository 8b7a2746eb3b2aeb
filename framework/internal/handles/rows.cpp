// Listing all entries.
#include <troupe/framework/internal/handles/ledger.hpp>

namespace troupe::internal::handles {

ledger_rows ledger::rows(std::uint32_t first, std::uint32_t count) const {
  ledger_rows result{.now = options_.clock(), .entries = {}};
  const auto size = books_.entries.size();
  const auto end = first + std::min(count, size - std::min(size, first));
  result.are_all = end >= size;
  for (auto index = first; index < end; ++index) {
    const auto& which = books_.entries.row(index);
    if (which.state == entry_state::free)
      continue;
    const auto what = books_.entries.reference_of(index);
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
      row.name = row.is_unfinished ? sending_.proxy_name(what) : which.name;
      row.source = which.link;
      if (const auto* link = books_.links.find(which.link))
        row.is_source_lost = link->phase == link_phase::grace;
      row.size_bytes = which.size_bytes;
      row.since = which.since;
      row.is_fetched = which.fetch != nullptr;
      row.received_bytes = which.fetch ? which.fetch->received_bytes : 0;
    }
    for (const auto& [number, name] : exports_.places_of(what)) {
      const auto& link = *books_.links.find(number);
      const auto& record = link.exports.at(name);
      row.exports.push_back({.link = number, .phase = link.phase, .count = record.count, .since = record.since});
    }
  }
  return result;
}

} // namespace troupe::internal::handles
