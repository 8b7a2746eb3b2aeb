// The rows of the ledger's tables: entries (what this node has handles to) and links (what was exported where).
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <variant>
#include <vector>

#include <troupe/framework/internal/handles/actions.hpp>
#include <troupe/framework/internal/handles/messages.hpp>

namespace troupe::internal::handles {

/// Since when does not matter; it only grows.
using time_point = std::chrono::nanoseconds;

//  free --import--> remote --replica sealed--> here     free --local object--> here
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
  time_point deadline{};

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

//  waiting --source up--> making_room --room--> asking --head--> receiving --all bytes, all captured here--> sealing
//     |                                           |
//     +--source up, store shared with it----------+--handed over: the entry moves
//  Any step goes back to waiting when the source's link is lost, but for sealing.
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
    return from == asking;
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
  std::set<waiter> waiters;
  std::shared_ptr<import_budget> budget; // Of who began it: who joins later does not pay.
  fetch_error failed;                    // Told to all who wait at the end of the event.
  time_point deadline{};                 // Of the next sign of progress.
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
  std::uint64_t dependents = 0; // Export records, drafts, entries moved here.
  // An import: who gave it, as what. `link` is 0 for local objects, and when the source is gone.
  link_number link = 0;
  object_id name;
  handle_mode mode = handle_mode::mine;
  std::uint64_t count = 0;
  std::uint64_t size_bytes = 0;
  std::optional<adoption_offer> offer; // The newest that was not refused.
  link_number adopting = 0;            // Where an `adopt` is unanswered.
  link_number reclaiming = 0;          // Where a `reclaim` is unanswered.
  object_id place;                     // here
  reference target;                    // moved
  std::unique_ptr<fetch_state> fetch;
  bool touched = false; // To be looked at at the end of the event.

  [[nodiscard]] bool wanted() const noexcept { return references > 0 || dependents > 0 || fetch != nullptr; }
};

/// Somebody else may have what was exported here.
struct voucher {
  node_name beneficiary;
  std::uint64_t token = 0;

  friend bool operator==(const voucher&, const voucher&) = default;
};

/// What was sent to a peer and not yet released: held, under the name that the peer knows.
struct export_record {
  reference what;
  std::uint64_t count = 0;
  std::vector<voucher> vouchers;
};

/// One pull that a peer has made here.
struct serving {
  object_id name;
  bool sending = false; // Else the entry is being fetched first.
  object_id place;
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;
};

/// A question to the peer that has no answer yet.
struct open_request {
  enum class kind : std::uint8_t { adopt, reclaim, pull };
  kind what = kind::pull;
  reference about;
  object_id name;          // reclaim
  std::uint64_t token = 0; // adopt
  time_point deadline{};   // adopt, reclaim: when it is given up. A pull's is its fetch's.
};

/// An `adopt` that came before its `vouch`, which takes another way.
struct parked_adopt {
  request_number request = 0;
  object_id name;
  std::uint64_t token = 0;
  time_point deadline{};
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
  // While up only.
  request_number last_request = 0; // Of this end.
  request_number last_asked = 0;   // Of the peer.
  std::map<request_number, open_request> requests;
  std::size_t adoptions = 0; // Among them.
  std::map<request_number, serving> servings;
  request_number last_served = 0; // Whose turn it was.
  std::vector<parked_adopt> parked;
  std::map<node_name, time_point> dialed; // Where the peer's offers have led lately.
  std::vector<object_id> unclaimed;       // In flight to here when the store was busy: nobody wants them any more.
};

} // namespace troupe::internal::handles
