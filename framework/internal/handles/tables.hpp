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
#include <troupe/framework/internal/handles/messages.hpp>

namespace troupe::internal::handles {

/// Since when does not matter; it only grows.
using time_point = std::chrono::nanoseconds;
/// When what has no deadline is due.
constexpr auto never = time_point::max();

/// What is to be looked at when. Each deadline of the tables below has its row and no other has, so that the first row
/// is exactly when the next thing is due.
struct timer {
  enum class kind : std::uint8_t { waiter, fetch, grace, question, parked, dials, retry };

  time_point at{};
  kind what = kind::waiter;
  std::uint64_t owner = 0;  // The waiter, the entry's number, the link, or the node.
  std::uint64_t number = 0; // fetch: the entry's generation. question, parked: the request.

  friend auto operator<=>(const timer&, const timer&) = default;
};

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
  reference what;
  time_point deadline{};
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
  time_point deadline = never;           // Of the next sign of progress.

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

/// Somebody else may have what was exported on a link.
struct voucher {
  object_id name;
  node_name beneficiary;
  std::uint64_t token = 0;
  link_number link = 0;

  friend auto operator<=>(const voucher&, const voucher&) = default;
};

/// Some vouchers by age: which goes first, when there are too many.
class voucher_ages {
public:
  [[nodiscard]] bool empty() const noexcept { return all_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
  [[nodiscard]] const std::set<std::uint64_t>& all() const noexcept { return all_; }
  /// The oldest for this node, else the oldest of all: so that what is vouched for one node takes little from others.
  /// Requires: there is one.
  [[nodiscard]] std::uint64_t first_to_go(const node_name& beneficiary) const {
    auto oldest = of_each_.lower_bound({beneficiary, 0});
    return oldest != of_each_.end() && oldest->first == beneficiary ? oldest->second : *all_.begin();
  }
  void insert(std::uint64_t age, const node_name& beneficiary) {
    all_.insert(age);
    of_each_.emplace(beneficiary, age);
  }
  void erase(std::uint64_t age, const node_name& beneficiary) {
    all_.erase(age);
    of_each_.erase({beneficiary, age});
  }

private:
  std::set<std::uint64_t> all_;
  std::set<std::pair<node_name, std::uint64_t>> of_each_;
};

/// What was sent to a peer and not yet released: held, under the name that the peer knows.
struct export_record {
  reference what;
  std::uint64_t count = 0;
  std::uint64_t reclaimed = 0; // How many of them, at most, answered a `reclaim`: without bytes or a hold.
  time_point since{};          // For who looks.
  voucher_ages vouchers;
  std::set<request_number> servings; // Its pulls.
};

/// One pull that a peer has made here.
struct serving {
  enum class step : std::uint8_t { fetching, head, bytes };

  object_id name;
  step next = step::fetching; // What it waits for, or is sent next.
  object_id place;
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;
};

/// A question to the peer that has no answer yet.
struct open_request {
  enum class kind : std::uint8_t { adopt, reclaim, pull };
  kind what = kind::pull;
  reference about;
  object_id name;             // reclaim
  std::uint64_t token = 0;    // adopt
  link_number offered_by = 0; // adopt
  time_point deadline{};      // adopt, reclaim: when it is given up. A pull's is its fetch's.
};

/// An `adopt` that came before its `vouch`, which takes another way.
struct parked_adopt {
  object_id name;
  std::uint64_t token = 0;
  time_point deadline{};
};

/// Entries that one peer's offers would have adopted from another: few are asked for at a time, so that there is room
/// for what others offer.
struct offerer {
  std::size_t asked = 0;
  std::set<reference> queued;
};

/// Pulls over one link: few at a time, the rest waits.
struct pull_turns {
  std::map<std::uint64_t, reference> queued; // Fetches, by turn.
  std::size_t asked = 0;
  std::size_t asked_max = 0; // As many as the peer has not been too busy for lately.
};

/// Where a peer's offers have led lately.
struct dial {
  node_name node;
  time_point expires{};
  bool is_pending = true; // No link has come of it yet.
};

//  up --lost--> grace --reclaimed all, or time is over--> (forgotten)
enum class link_phase : std::uint8_t { up, grace };

/// One link and what went over it.
struct link_record {
  link_number number = 0;
  node_name peer;
  bool shares_store = false;
  link_phase phase = link_phase::up;
  time_point grace_ends{};
  std::map<object_id, export_record> exports;
  std::map<object_id, reference> imports;
  std::map<std::uint64_t, voucher> vouchers; // Of this peer's for its exports, by age.
  voucher_ages ages;                         // Of the same.
  // While up only.
  request_number last_request = 0; // Of this end.
  request_number last_asked = 0;   // Of the peer.
  std::map<request_number, open_request> requests;
  // Adoptions from the peer, by who offered them.
  std::map<link_number, offerer> offerers;
  std::set<link_number> turns;  // Those that have something queued, and room.
  link_number last_offerer = 0; // Whose turn it was.
  std::size_t adoptions = 0;    // Asked.
  pull_turns pulls_of_own;      // Of what the peer has itself, and ...
  pull_turns pulls_behind;      // ... of what it must fetch first, which must not hold up the others.
  // Pulls by the peer.
  std::map<request_number, serving> servings;
  std::size_t servings_behind = 0; // Those of what this node had behind others when it was exported.
  std::set<request_number> ready;  // Those that wait for the link's room only.
  request_number last_served = 0;  // Whose turn it was.
  std::map<request_number, parked_adopt> parked;
  std::set<std::tuple<object_id, std::uint64_t, request_number>> parked_names; // The same by name and token.
  std::vector<object_id> unclaimed; // In flight to here when the store was busy: nobody wants them any more.
  // The peer was busy with what it was asked before: nothing more of that sort is begun there until `retry`.
  bool pulls_are_paused = false;
  bool adoptions_are_paused = false;
  time_point retry = never;
};

} // namespace troupe::internal::handles
