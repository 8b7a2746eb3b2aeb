// Invariants that must hold between events. For tests.
#include <troupe/framework/internal/handles/ledger.hpp>

namespace troupe::internal::handles {

/// Checks that all parts of the ledger agree about one entry.
std::string_view ledger::broken_entry(const entry& which, reference what) const {
  using enum entry_state;
  if (which.state != remote && (which.reclaiming != 0 || which.fetch))
    return "something is sought for what is not remote";
  if (which.state == remote && which.link == 0 && which.adoption.over == 0 && !which.parts
      && !fetches_.is_sealing(what))
    return "a remote entry without a source is not lost";
  if (which.trail.own_mark != 0 && marks_.find(which.trail.own_mark) != what)
    return "a mark that cannot be found";
  if (which.link == 0)
    return {};
  if (which.state != remote && which.state != here)
    return "an import of what is neither remote nor here";
  const auto* link = books_.links.find(which.link);
  if (link == nullptr)
    return "an import over a link that is forgotten";
  const auto known = link->imports.find(which.name);
  if (known == link->imports.end() || known->second != what)
    return "an entry and its link do not agree";
  if (which.count > 0 && link->phase != link_phase::up)
    return "a count on a lost link";
  return {};
}

std::string_view ledger::broken_invariant() const {
  if (books_.clock.is_in_event())
    return "an event has not ended";
  for (auto text : {books_.links.broken_invariant(), books_.entries.broken_invariant(), fetches_.broken_invariant(),
                    serving_.broken_invariant(), adopting_.broken_invariant(), exports_.broken_invariant(),
                    vouching_.vouchers().broken_invariant(), unfinished_.broken_invariant()})
    if (!text.empty())
      return text;
  std::string_view broken;
  std::vector<std::uint64_t> dependents(books_.entries.size());
  std::size_t marks = 0;
  books_.entries.for_each([&](reference what, const entry& each) {
    if (broken.empty())
      broken = broken_entry(each, what);
    marks += each.trail.own_mark != 0;
    if (each.state == entry_state::moved)
      ++dependents[each.target.index];
  });
  for (const auto& [number, link] : books_.links.all()) {
    if (link.unclaimed.size() > options_.unclaimed_max)
      return "more than a peer may make this node keep";
    for (const auto& [name, what] : link.imports)
      if (const auto* found = books_.entries.find(what);
          found == nullptr || found->link != number || found->name != name)
        return "a link and its import do not agree";
    for (const auto& [name, record] : link.exports)
      ++dependents[record.what.index];
  }
  if (!broken.empty())
    return broken;
  if (marks != marks_.size())
    return "a mark of what is gone";
  for (std::uint32_t index = 0; index < books_.entries.size(); ++index)
    if (const auto& each = books_.entries.row(index);
        each.state != entry_state::free && each.dependents != dependents[index])
      return "an entry counts others than its dependents";
  return {};
}

} // namespace troupe::internal::handles
