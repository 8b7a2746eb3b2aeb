// Objects of this node's own that capture what is not here: they are finished when that has come.
#include <troupe/framework/internal/handles/ledger.hpp>

#include <algorithm>
#include <cassert>

namespace troupe::internal::handles {

reference ledger::add_unfinished(std::uint64_t size_bytes, std::span<const reference> captured) {
  return in_event([&] {
    auto what = make_entry(entry_state::remote);
    auto& made = at(what);
    made.size_bytes = size_bytes;
    made.parts = std::make_unique<std::vector<reference>>(captured.begin(), captured.end());
    ++made.references;
    for (auto each : captured) {
      ++at(each).references;
      part_of_.emplace(each, what);
    }
    touch(what); // One of them may be lost.
    return what;
  });
}

/// Of which one is lost: why it is.
const fetch_error* ledger::lost_part(const entry& which) const {
  if (!which.parts)
    return nullptr;
  for (auto each : *which.parts)
    if (const auto* part = find(resolve(each)); part->state == entry_state::lost)
      return &part->loss;
  return nullptr;
}

/// As if all its bytes had just come. Not where anything else is under way, since an unfinished object can capture
/// others, in chains of any length.
void ledger::begin_finishing(reference what) {
  auto& which = at(what);
  auto& fetch = *which.fetch;
  fetch.room = ++last_room_;
  rooms_[fetch.room] = what;
  step_to(what, fetch_step::receiving);
  for (auto each : *which.parts)
    ++at(each).references;
  await_captured(what, *which.parts);
  seal_if_complete(what);
}

/// It is here, lost, or not wanted any more.
void ledger::forget_parts(reference what) {
  auto parts = std::exchange(at(what).parts, nullptr);
  if (!parts)
    return;
  for (auto each : *parts) {
    part_of_.erase({each, what});
    unrefer(each);
  }
  want(forget_unfinished{what});
}

} // namespace troupe::internal::handles
