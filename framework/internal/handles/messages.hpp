// The messages about handles between two nodes. Specification: framework/handle-protocol.md.
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

/// A process's end of the network. A node that restarts keeps its number and gets a new incarnation.
struct node_name {
  std::uint64_t node = 0;
  std::uint64_t incarnation = 0;

  friend auto operator<=>(const node_name&, const node_name&) = default;
};

/// Names a link at both of its ends. Neither end reuses the number.
using link_number = std::uint64_t;

/// Why a request failed, grouped by what the caller can do. Travels in `refused`: append only.
enum class handle_errc : std::uint8_t {
  none = 0,
  // Try again later.
  busy = 1,      // A table is full, here or at the peer, or the store's lock was not available.
  full = 2,      // No room for a replica.
  stalled = 3,   // The peer sent nothing for too long.
  timed_out = 4, // The caller's own deadline.
  // 5 was never sent to a peer.
  // Ask for something else.
  object_lost = 6, // The holder of the bytes is gone.
  unknown = 7,     // The requester was not given a handle of that name.
  too_many = 11,   // One fetch would import more handles than it may.
  link_down = 8,   // The link is not up, or no longer.
  cancelled = 9,   // By the requester.
  // The peer's fault: ends its link.
  violation = 10,
};

[[nodiscard]] std::string_view to_string(handle_errc code);

/// Whether a peer may give this code as the reason of a refusal. Only this end can know the other codes.
[[nodiscard]] constexpr bool may_refuse(handle_errc why) {
  using enum handle_errc;
  return why == busy || why == full || why == stalled || why == object_lost || why == unknown || why == too_many;
}

/// How the sender of a handle has the object.
enum class handle_mode : std::uint8_t {
  mine = 1,   // The sender has the bytes and will serve them.
  shared = 2, // The bytes lie in the store of both ends; one handle is in flight there.
  behind = 3, // The sender only has a handle itself, and fetches the bytes on request.
  yours = 4,  // The receiver's own: it was exported to the sender on this very link.
};

/// "You may get it there": the sender has vouched for the receiver at `exporter`.
struct adoption_offer {
  node_name exporter;
  object_id name; // The exporter's.
  std::uint64_t token = 0;

  friend auto operator<=>(const adoption_offer&, const adoption_offer&) = default;
};

/// Where an object was put: its name there, and a proof to that store that the bytes were once given away. It travels
/// with every copy of the object, so that its home store can find the original again.
struct home_name {
  object_id name;
  std::uint64_t proof = 0; // Only a process that has the store open can make it.

  friend auto operator<=>(const home_name&, const home_name&) = default;
};

/// One handle in a message. Names are the sender's, or for `yours` the receiver's. If the sender has the object, its
/// name is the object's id. If the sender has it `behind` another node, its name has that sender's `proxy_number` in
/// `store`.
struct handle_descriptor {
  object_id name;
  handle_mode mode = handle_mode::mine;
  std::uint64_t size_bytes = 0;
  std::optional<adoption_offer> offer; // For `behind` only.
  // For `behind` in a message only: the mark by which a node on the path recognizes the handle, and how often the
  // handle was forwarded.
  std::uint64_t mark = 0; // 0: no mark.
  std::uint32_t hops = 0;
  std::optional<home_name> home; // Not for `yours`.

  friend bool operator==(const handle_descriptor&, const handle_descriptor&) = default;
};

/// Numbers a question on its link, so that its answer can refer to it. The asking end counts it up from 1.
using request_number = std::uint64_t;

// From importer to exporter.

/// The importer no longer needs the last `count` receipts of `name`.
struct release {
  object_id name;
  std::uint64_t count = 0;
};
/// `beneficiary` may have `name`, once, if it knows `token`.
struct vouch {
  object_id name;
  node_name beneficiary;
  std::uint64_t token = 0;
};
/// Asks for a handle for which a third node has vouched.
struct adopt {
  request_number request = 0;
  object_id name;
  std::uint64_t token = 0;
};
/// Asks again for `name`, which was exported to the sender on the lost link `previous`.
struct reclaim {
  request_number request = 0;
  object_id name;
  link_number previous = 0;
};
/// Asks for the bytes of `name`.
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
/// Answers `reclaim`. Counts one sending of `name`.
struct reclaimed {
  request_number request = 0;
  object_id name;
};
/// Answers `pull`. The bytes follow. The captured objects are exported with this message.
struct pull_head {
  request_number request = 0;
  std::uint64_t size_bytes = 0;
  std::vector<handle_descriptor> captured;
};
/// The header of bytes, which travel with it in a separate packet. It is not a `message`.
struct pull_chunk {
  request_number request = 0;
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;
};
/// Answers `pull` if both ends share a store and the object is in it.
struct pull_here {
  request_number request = 0;
  handle_descriptor handle;
};
/// Refuses adopt, reclaim or pull.
struct refused {
  request_number request = 0;
  handle_errc reason = handle_errc::unknown;
  bool is_disk_full = false; // For `full`.
};
/// An object that was `behind` will never come.
struct lost {
  object_id name;
};

using message =
    std::variant<release, vouch, adopt, reclaim, pull, cancel, adopted, reclaimed, pull_head, pull_here, refused, lost>;

} // namespace troupe::internal::handles
