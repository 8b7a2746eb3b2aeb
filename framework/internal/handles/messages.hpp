// What two nodes say to each other about handles. The document: framework/handle-protocol.md.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include <troupe/store/object_id.hpp>

namespace troupe::internal::handles {

using store::object_id;

/// A process's end of the network. A node that starts again keeps its number and gets a new incarnation.
struct node_name {
  std::uint64_t node = 0;
  std::uint64_t incarnation = 0;

  friend auto operator<=>(const node_name&, const node_name&) = default;
};

/// Names a link at both of its ends; neither uses it again.
using link_number = std::uint64_t;

/// Why something could not be had, grouped by what the caller can do. Travels in `refused`: append only.
enum class handle_errc : std::uint8_t {
  none = 0,
  // Try again later.
  busy = 1,      // A table is full, here or at the peer, or the store's lock was not to be had.
  full = 2,      // No room for a replica.
  stalled = 3,   // The peer sent nothing for too long.
  timed_out = 4, // The caller's own deadline.
  // 5 was never said to a peer.
  // Ask for something else.
  object_lost = 6, // Whoever had the bytes is gone.
  unknown = 7,     // Nothing of that name was given to who asks.
  too_many = 11,   // One fetch would import more handles than it may.
  link_down = 8,   // The link is not up (any more).
  cancelled = 9,   // By who asked.
  // The peer's fault: it loses its link.
  violation = 10,
};

[[nodiscard]] std::string_view to_string(handle_errc code);

/// Whether a peer may give this as the reason of a refusal. The rest only this end can know.
[[nodiscard]] constexpr bool may_refuse(handle_errc why) {
  using enum handle_errc;
  return why == busy || why == full || why == stalled || why == object_lost || why == unknown || why == too_many;
}

/// How the writer of a handle has what it names.
enum class handle_mode : std::uint8_t {
  mine = 1,   // It has the bytes and will serve them.
  shared = 2, // They lie in the store of both ends; one handle is in flight there.
  behind = 3, // It only has a handle itself, and will fetch when it is asked.
  yours = 4,  // The reader's own: it was exported to the writer on this very link.
};

/// "You may have it from there": the writer has vouched for the reader at `exporter`.
struct adoption_offer {
  node_name exporter;
  object_id name; // The exporter's.
  std::uint64_t token = 0;

  friend auto operator<=>(const adoption_offer&, const adoption_offer&) = default;
};

/// Where an object was put: its name there, and what proves to that store that its bytes were given away once. It
/// travels with whatever becomes of the object, so that it is found again where it is at home.
struct home_name {
  object_id name;
  std::uint64_t proof = 0; // Only who has the store open can make it.

  friend auto operator<=>(const home_name&, const home_name&) = default;
};

/// One handle in a message. Names are the writer's own (the reader's, for `yours`): the object's id for what it has,
/// a name with the node's own number in `store` for what it has behind another.
struct handle_descriptor {
  object_id name;
  handle_mode mode = handle_mode::mine;
  std::uint64_t size_bytes = 0;
  std::optional<adoption_offer> offer; // For `behind` only.
  // For `behind` in a message only: by which a node on the way knows the handle again, and how often it was sent on.
  std::uint64_t mark = 0; // 0: there is none.
  std::uint32_t hops = 0;
  std::optional<home_name> home; // Not for `yours`.

  friend bool operator==(const handle_descriptor&, const handle_descriptor&) = default;
};

/// Numbers a question on its link, for its answer. Counted up by who asks, from 1.
using request_number = std::uint64_t;

// From importer to exporter.

/// Nothing here needs the last `count` receipts of `name` any more.
struct release {
  object_id name;
  std::uint64_t count = 0;
};
/// `beneficiary` may have `name` if it knows `token`. Once.
struct vouch {
  object_id name;
  node_name beneficiary;
  std::uint64_t token = 0;
};
/// A third node has vouched for the writer.
struct adopt {
  request_number request = 0;
  object_id name;
  std::uint64_t token = 0;
};
/// `name` was exported to the writer on the link `previous`, which is lost.
struct reclaim {
  request_number request = 0;
  object_id name;
  link_number previous = 0;
};
/// Send the bytes of `name`.
struct pull {
  request_number request = 0;
  object_id name;
};
struct cancel {
  request_number request = 0;
};

// From exporter to importer. Every descriptor counts one sending.

struct adopted {
  request_number request = 0;
  handle_descriptor handle;
};
/// Counts one sending of the name that was asked for.
struct reclaimed {
  request_number request = 0;
  object_id name;
};
/// To a pull: the bytes follow. The captured objects are exported along.
struct pull_head {
  request_number request = 0;
  std::uint64_t size_bytes = 0;
  std::vector<handle_descriptor> captured;
};
/// Stands before bytes, which travel with it in a packet of their own: no `message`.
struct pull_chunk {
  request_number request = 0;
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;
};
/// To a pull, where both ends share a store: the object is there.
struct pull_here {
  request_number request = 0;
  handle_descriptor handle;
};
/// To adopt, reclaim and pull.
struct refused {
  request_number request = 0;
  handle_errc reason = handle_errc::unknown;
  bool is_disk_full = false; // Of `full`.
};
/// What was `behind` will never come.
struct lost {
  object_id name;
};

using message =
    std::variant<release, vouch, adopt, reclaim, pull, cancel, adopted, reclaimed, pull_head, pull_here, refused, lost>;

} // namespace troupe::internal::handles
