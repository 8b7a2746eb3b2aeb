// One row of what a node has handles to.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <troupe/framework/internal/handles/actions.hpp>
#include <troupe/framework/internal/handles/fetch_state.hpp>
#include <troupe/framework/internal/handles/messages.hpp>
#include <troupe/framework/internal/handles/timers.hpp>

namespace troupe::internal::handles {

//  free --import--> remote --replica sealed, or found--> here     free --local object--> here
//                     |  \---adopted elsewhere--> moved
//                     \---source gone for good--> lost
//  Every state goes back to free when nothing refers to the entry. Only free is left twice.
enum class entry_state : std::uint8_t { free, remote, here, moved, lost };

[[nodiscard]] constexpr bool may_follow(entry_state from, entry_state to) {
  using enum entry_state;
  switch (from) {
  case free:
    return to == remote || to == here || to == lost;
  case remote:
    return to != remote;
  case here:
  case moved:
  case lost:
    return to == free;
  }
  return false;
}
static_assert(!may_follow(entry_state::lost, entry_state::remote));
static_assert(!may_follow(entry_state::moved, entry_state::here));

/// By what a handle is known again that comes round.
struct entry_trail {
  std::uint64_t mark = 0;     // That it came with, ...
  std::uint32_t hops = 0;     // ... after this number of sendings behind others.
  std::uint64_t own_mark = 0; // What this node has put in its place.
};

/// The attempts to have an entry from the node with the bytes.
struct adoption_state {
  std::optional<adoption_offer> offer; // The newest that was not refused.
  link_number offered_by = 0;          // The link over which that came.
  time_point busy_until = never;       // Until when an exporter that is too busy for the offer is asked again.
  link_number over = 0;                // Where an `adopt` is unanswered, or waits for its turn.
  request_number request = 0;          // 0: it waits for its turn.
};

/// One object that this node has a handle to.
///
/// Invariants:
/// 1. here: the ledger has one hold of `place`. moved: `target` counts this entry as a dependent.
/// 2. remote with a link: the link's record has it among its imports under `name`, and `count` is what the peer counts
///    too, but for what is on its way.
/// 3. What an entry depends on (its exporter's entry, or `target`) existed before anything depended on the entry: so
///    nothing ever depends on itself, also where peers lie.
struct entry {
  std::uint32_t generation = 0;
  entry_state state = entry_state::free;
  std::uint64_t references = 0; // Of the application and of fetches.
  std::uint64_t dependents = 0; // Export records, entries moved here.
  // An import: the link that gave it, and as what. `link` is 0 for local objects, and when the source is gone.
  link_number link = 0;
  object_id name;
  handle_mode mode = handle_mode::mine;
  std::uint64_t count = 0;
  std::uint64_t size_bytes = 0;
  std::optional<home_name> home; // That it came with, or this node's own.
  entry_trail trail;
  adoption_state adoption;
  link_number reclaiming = 0; // Where a `reclaim` is unanswered.
  object_id place;            // here
  reference target;           // moved
  // remote, without a source: what this node's own object captures, which can be finished when all that is here. One
  // reference each.
  std::unique_ptr<std::vector<reference>> parts;
  std::unique_ptr<fetch_state> fetch;
  fetch_error loss{.code = handle_errc::object_lost}; // Why, where that is known.
  bool touched = false;                               // To be looked at at the end of the event.
  time_point since{};                                 // For who looks.

  [[nodiscard]] bool wanted() const noexcept { return references > 0 || dependents > 0 || fetch != nullptr; }
};

} // namespace troupe::internal::handles
