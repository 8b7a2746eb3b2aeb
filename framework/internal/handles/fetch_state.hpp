// The state of one pull, and its waiters.
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

/// Waiters for the bytes of an entry.
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
//     +--unfinished object of this node: no bytes to pull--> receiving
//  Any step except sealing goes back to waiting if the source's link is lost or the source is busy.
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
    return from == asking || from == waiting; // From waiting: an object that this node finishes itself has its bytes.
  case sealing:
    return from == receiving;
  }
  return false;
}

/// The imports of one fetch by the application or by a peer: objects that its object captures, directly or indirectly.
struct import_budget {
  reference root; // The fetched object.
  std::uint64_t imports = 0;
};

/// The state of asking a source for the bytes.
struct pull_state {
  std::uint64_t turn = 0;     // Order among pulls that wait for the same link: first come, first served.
  bool is_queued = false;     // Queued at the source, waiting for its turn.
  bool has_slot = false;      // Counts as one of the source's pulls.
  request_number request = 0; // On the entry's link; 0: no request is open.
};

/// One pull, shared by all waiters for the same entry.
struct fetch_state {
  fetch_state(timer_queue& timers, reference what)
      : patience(timers, timer::kind::fetch, what.index, what.generation) {}

  fetch_step step = fetch_step::waiting;
  room_id room = 0; // 0: none.
  pull_state pull;
  std::uint64_t received_bytes = 0;
  std::vector<reference> captured; // One reference each.
  std::size_t awaited = 0;         // How many fetches of captured objects this one waits for.
  std::set<waiter> waiters;
  std::shared_ptr<import_budget> budget; // The first waiter's; later waiters are not charged.
  fetch_error failed;                    // Told to all waiters at the end of the event.
  time_point busy_until = never;         // How long a source that is busy, or whose store is full, is asked again.
  fetch_error refused;                   // The last refusal; reset once bytes come.
  deadline patience;                     // Deadline for the next sign of progress.

  /// All bytes have come: only captured objects are missing, and those have their own deadlines.
  [[nodiscard]] bool waits_for_captured() const noexcept { return step == fetch_step::receiving && pull.request == 0; }
};

} // namespace troupe::internal::handles
