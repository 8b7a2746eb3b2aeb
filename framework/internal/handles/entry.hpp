// One row of the table of objects to which a node has handles.
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
// Every state goes back to free when nothing refers to the entry any more. Only free is entered again.
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

/// How a handle that comes back to this node is recognized.
struct entry_trail {
  std::uint64_t mark = 0;     // The mark that it came with ...
  std::uint32_t hops = 0;     // ... and the number of times it was sent on as `behind`.
  std::uint64_t own_mark = 0; // The mark that this node sends instead.
};

/// The attempts to get an entry directly from the node with the bytes.
struct adoption_state {
  std::optional<adoption_offer> offer; // The newest that was not refused.
  link_number offered_by = 0;          // The link over which the offer came.
  time_point busy_until = never;       // How long an exporter that is too busy is asked again.
  link_number over = 0;                // The link on which an `adopt` is unanswered or queued.
  request_number request = 0;          // 0: queued.
};

/// One object to which this node has a handle.
///
/// Invariants:
/// 1. here: the ledger has one hold of `place`. moved: `target` counts this entry as a dependent.
/// 2. remote with a link: the link's record has it among its imports under `name`, and `count` equals the peer's count,
///    except for handles and releases on their way.
/// 3. An entry's dependency (its exporter's entry, or `target`) existed before anything depended on the entry. So no
///    entry ever depends on itself, even if peers lie.
struct entry {
  std::uint32_t generation = 0;
  entry_state state = entry_state::free;
  std::uint64_t references = 0; // Held by the application and by fetches.
  std::uint64_t dependents = 0; // Export records, entries moved here.
  // For an import: the link that gave it, and the name there. `link` is 0 for local objects, and once the source is
  // gone.
  link_number link = 0;
  object_id name;
  handle_mode mode = handle_mode::mine;
  std::uint64_t count = 0;
  std::uint64_t size_bytes = 0;
  std::optional<home_name> home; // As received with the handle, or this node's own.
  entry_trail trail;
  adoption_state adoption;
  link_number reclaiming = 0; // The link on which a `reclaim` is unanswered.
  object_id place;            // here
  reference target;           // moved
  // For a remote entry without a source: the objects that this node's own object captures, one reference each. The
  // object can be finished once all of them are here.
  std::unique_ptr<std::vector<reference>> parts;
  std::unique_ptr<fetch_state> fetch;
  fetch_error loss{.code = handle_errc::object_lost}; // The reason, if known.
  bool touched = false;                               // To be examined at the end of the event.
  time_point since{};                                 // For diagnostics.

  [[nodiscard]] bool wanted() const noexcept { return references > 0 || dependents > 0 || fetch != nullptr; }
};

} // namespace troupe::internal::handles
