// The rows of the ledger's tables: entries (what this node has handles to) and links (what was exported where).
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <troupe/framework/internal/handles/actions.hpp>
#include <troupe/framework/internal/handles/adoption_turns.hpp>
#include <troupe/framework/internal/handles/busy_pause.hpp>
#include <troupe/framework/internal/handles/ledger_options.hpp>
#include <troupe/framework/internal/handles/link_questions.hpp>
#include <troupe/framework/internal/handles/link_servings.hpp>
#include <troupe/framework/internal/handles/messages.hpp>
#include <troupe/framework/internal/handles/parked_adoptions.hpp>
#include <troupe/framework/internal/handles/pull_turns.hpp>
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

/// Who wants the bytes of an entry.
struct outside_waiter { // A caller of fetch().
  waiter_id waiter = 0;

  friend auto operator<=>(const outside_waiter&, const outside_waiter&) = default;
};
struct peer_waiter { // A peer's pull.
  link_number link = 0;
  request_number request = 0;

  friend auto operator<=>(const peer_waiter&, const peer_waiter&) = default;
};
struct outer_waiter { // A fetch whose object captures this one.
  reference outer;
  room_id room = 0;

  friend auto operator<=>(const outer_waiter&, const outer_waiter&) = default;
};
using waiter = std::variant<outside_waiter, peer_waiter, outer_waiter>;

/// Where a caller of fetch() waits, and how long.
struct outside_wait {
  outside_wait(timer_queue& timers, waiter_id who, time_point until) : limit(timers, timer::kind::waiter, who) {
    limit.set(until);
  }

  reference what;
  deadline limit;
};

//  waiting --its turn--> making_room --room--> asking --head--> receiving --all bytes, all captured here--> sealing
//     |                          |                |
//     |                          +--a replica is found: the entry is here
//     +--its turn, store shared with the source---+--handed over: the entry moves
//     +--unfinished here: its bytes need not come--> receiving
//  Any step goes back to waiting when the source's link is lost, or the source is busy, but for sealing.
enum class fetch_step : std::uint8_t { waiting, making_room, asking, receiving, sealing };

[[nodiscard]] constexpr bool may_follow(fetch_step from, fetch_step to) {
  using enum fetch_step;
  switch (to) {
  case waiting:
    return from != waiting && from != sealing;
  case making_room:
    return from == waiting;
  case asking:
    return from == making_room || from == waiting;
  case receiving:
    return from == asking || from == waiting; // From waiting: what this node finishes itself has its bytes.
  case sealing:
    return from == receiving;
  }
  return false;
}

/// What one fetch of the application, or of a peer, has imported: what its object captures, what that captures, ...
struct import_budget {
  reference root; // What was asked for.
  std::uint64_t imports = 0;
};

/// One pull, shared by all who wait for the same entry.
struct fetch_state {
  fetch_state(timer_queue& timers, reference what)
      : patience(timers, timer::kind::fetch, what.index, what.generation) {}

  fetch_step step = fetch_step::waiting;
  room_id room = 0;           // 0: none.
  request_number request = 0; // On the entry's link. 0: nothing is asked.
  std::uint64_t received_bytes = 0;
  std::vector<reference> captured; // One reference each.
  std::size_t awaited = 0;         // Fetches of captured ones that this one waits for.
  std::set<waiter> waiters;
  std::shared_ptr<import_budget> budget; // Of who began it: who joins later does not pay.
  fetch_error failed;                    // Told to all who wait at the end of the event.
  std::uint64_t turn = 0;                // Among those that wait for the same link: who came first begins first.
  bool is_queued = false;                // At the source, waiting for its turn.
  bool has_slot = false;                 // Counts among the source's pulls.
  time_point busy_until = never;         // Until when a busy source is asked again, or one whose store is full.
  fetch_error refused;                   // What it said last; nothing once bytes come.
  deadline patience;                     // For the next sign of progress.

  /// All bytes have come: only captured objects are missing, which have their own deadlines.
  [[nodiscard]] bool waits_for_captured() const noexcept { return step == fetch_step::receiving && request == 0; }
};

/// One object that this node has a handle to.
///
/// Invariants:
/// 1. here: the ledger has one hold of `place`. moved: `target` counts this entry as a dependent.
/// 2. remote with a link: the link's record has it among its imports under `name`, and `count` is what the peer counts
///    too, but for what is on its way.
/// 3. What an entry depends on (its exporter's entry, or `target`) existed before anything depended on the entry: so
///    nothing ever depends on itself, whatever peers say.
struct entry {
  std::uint32_t generation = 0;
  entry_state state = entry_state::free;
  std::uint64_t references = 0; // Of the application and of fetches.
  std::uint64_t dependents = 0; // Export records, entries moved here.
  // An import: who gave it, as what. `link` is 0 for local objects, and when the source is gone.
  link_number link = 0;
  object_id name;
  handle_mode mode = handle_mode::mine;
  std::uint64_t count = 0;
  std::uint64_t size_bytes = 0;
  std::optional<home_name> home;       // That it came with, or this node's own.
  std::optional<adoption_offer> offer; // The newest that was not refused.
  link_number offered_by = 0;          // The link over which that came.
  std::uint64_t mark = 0;              // That it came with, ...
  std::uint32_t hops = 0;              // ... after so many sendings behind others.
  std::uint64_t own_mark = 0;          // What this node has put in its place.
  time_point busy_until = never;       // Until when an exporter that is too busy for the offer is asked again.
  link_number adopting = 0;            // Where an `adopt` is unanswered, or waits for its turn.
  request_number adopt_request = 0;    // 0: it waits for its turn.
  link_number reclaiming = 0;          // Where a `reclaim` is unanswered.
  object_id place;                     // here
  reference target;                    // moved
  // remote, without a source: what this node's own object captures, which can be finished when all that is here. One
  // reference each.
  std::unique_ptr<std::vector<reference>> parts;
  std::unique_ptr<fetch_state> fetch;
  fetch_error loss{.code = handle_errc::object_lost}; // Why, where that is known.
  bool touched = false;                               // To be looked at at the end of the event.
  time_point since{};                                 // For who looks.

  [[nodiscard]] bool wanted() const noexcept { return references > 0 || dependents > 0 || fetch != nullptr; }
};

/// What was sent to a peer and not yet released: held, under the name that the peer knows.
struct export_record {
  reference what;
  std::uint64_t count = 0;
  std::uint64_t reclaimed = 0; // How many of them, at most, answered a `reclaim`: without bytes or a hold.
  time_point since{};          // For who looks.
};

//  up --lost--> grace --reclaimed all, or time is over--> (forgotten)
enum class link_phase : std::uint8_t { up, grace };

/// One link and what went over it.
struct link_record {
  link_record(link_number numbered, const node_name& with, bool shares, timer_queue& timers,
              const ledger_options& options)
      : number(numbered),
        peer(with),
        shares_store(shares),
        grace_ends(timers, timer::kind::grace, numbered),
        questions(numbered, timers),
        adoptions({options.adoptions_max, options.adoptions_offered_max}),
        pulls_of_own(options.pulls_max),
        pulls_behind(options.pulls_max),
        servings(options.servings_max),
        parked(numbered, timers, options.parked_max),
        pause(numbered, timers) {}

  const link_number number;
  const node_name peer;
  const bool shares_store;
  link_phase phase = link_phase::up;
  deadline grace_ends;
  std::map<object_id, export_record> exports;
  std::map<object_id, reference> imports;
  // While up only.
  link_questions questions;
  adoption_turns adoptions; // From the peer.
  pull_turns pulls_of_own;  // Of what the peer has itself, and ...
  pull_turns pulls_behind;  // ... of what it must fetch first, which must not hold up the others.
  link_servings servings;
  parked_adoptions parked;
  std::vector<object_id> unclaimed; // In flight to here when the store was busy: nobody wants them any more.
  busy_pause pause;
};

} // namespace troupe::internal::handles
