// The course of one pull, and who waits for it.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <variant>
#include <vector>

#include <troupe/framework/internal/handles/actions.hpp>
#include <troupe/framework/internal/handles/messages.hpp>
#include <troupe/framework/internal/handles/timers.hpp>

namespace troupe::internal::handles {

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

/// How far a source is with being asked for the bytes.
struct pull_state {
  std::uint64_t turn = 0;     // Among those that wait for the same link: who came first begins first.
  bool is_queued = false;     // At the source, waiting for its turn.
  bool has_slot = false;      // Counts among the source's pulls.
  request_number request = 0; // On the entry's link. 0: nothing is asked.
};

/// One pull, shared by all who wait for the same entry.
struct fetch_state {
  fetch_state(timer_queue& timers, reference what)
      : patience(timers, timer::kind::fetch, what.index, what.generation) {}

  fetch_step step = fetch_step::waiting;
  room_id room = 0; // 0: none.
  pull_state pull;
  std::uint64_t received_bytes = 0;
  std::vector<reference> captured; // One reference each.
  std::size_t awaited = 0;         // Fetches of captured ones that this one waits for.
  std::set<waiter> waiters;
  std::shared_ptr<import_budget> budget; // Of who began it: who joins later does not pay.
  fetch_error failed;                    // Told to all who wait at the end of the event.
  time_point busy_until = never;         // Until when a busy source is asked again, or one whose store is full.
  fetch_error refused;                   // What it said last; nothing once bytes come.
  deadline patience;                     // For the next sign of progress.

  /// All bytes have come: only captured objects are missing, which have their own deadlines.
  [[nodiscard]] bool waits_for_captured() const noexcept { return step == fetch_step::receiving && pull.request == 0; }
};

} // namespace troupe::internal::handles
