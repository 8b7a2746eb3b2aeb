// The actions that the ledger of handles wants.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include <troupe/framework/internal/handles/messages.hpp>
#include <troupe/framework/internal/handles/reference.hpp>

namespace troupe::internal::handles {

/// Write the message, in order with everything else on that link.
struct send_message {
  link_number link = 0;
  message what;
};
/// next_chunk() has bytes for that link.
struct bytes_wanted {
  link_number link = 0;
};
/// The peer broke the protocol, or said that the link is lost. The ledger has already ended the link.
struct close_link {
  link_number link = 0;
  handle_errc why = handle_errc::none;
  std::string_view text; // Static.
};
/// A link to that node could supply a handle. If the node cannot be reached, ignore this action. For the offers of one
/// peer, at most `ledger_options::dials_max` dials are wanted at a time.
struct connect_to {
  node_name node;
};
/// Why a fetch has failed.
struct fetch_error {
  handle_errc code = handle_errc::none;
  // For `too_many`: how many handles the fetch would have imported, and the limit. Both 0 if the limit was a peer's.
  std::uint64_t imports = 0;
  std::uint64_t imports_max = 0;
  // For `object_lost`: the link over which the handle came, if known. `was_told` if the peer there said that the object
  // is lost; otherwise the link was lost. For `full` and `busy`: `was_told` if the peer on `source` said so; otherwise
  // this node's own store is meant. `is_behind` if the peer may have meant a node on which it depends.
  link_number source = 0;
  bool was_told = false;
  bool is_behind = false;
  bool is_disk_full = false; // For `full` that a peer has reported.

  friend bool operator==(const fetch_error&, const fetch_error&) = default;
};
/// The answer to one fetch(). On success it carries one reference, which keeps the bytes until it is dropped, because
/// the caller may have dropped its own reference meanwhile.
struct answer_waiter {
  waiter_id waiter = 0;
  fetch_error error;
  reference object;
  room_id room = 0; // If given up: the room that was begun for the fetch; 0 if none was.
  // For error texts: the object's size, and how long the caller has waited.
  std::uint64_t size_bytes = 0;
  std::chrono::nanoseconds waited{};
};
/// An object under its exporter's name. The name is the same for all nodes of a host that fetch the object.
struct original {
  node_name exporter;
  object_id name; // The exporter's.

  friend auto operator<=>(const original&, const original&) = default;
};
/// Make a builder. Answer with room_made(), room_found() or room_failed(), now or later.
struct make_room {
  room_id room = 0;
  std::uint64_t size_bytes = 0;
  std::optional<original> of; // Nullopt if the source itself has to fetch the bytes first.
  link_number source = 0;     // The link whose peer named the object.
};
/// Seal the room, with these captured objects. Answer with room_sealed() or room_failed(). The captured objects are
/// held until then.
struct seal_room {
  room_id room = 0;
  std::vector<object_id> captured;
  reference unfinished; // The unfinished object whose bytes the room takes; its builder has still to be made. Empty for
                        // replicas.
};
/// The bytes that the caller of add_unfinished() has kept for this object are no longer needed.
struct forget_unfinished {
  reference what;
};
/// Drop the room in any state, even if it is sealed. Late answers are ignored.
struct drop_room {
  room_id room = 0;
};

using action = std::variant<send_message, bytes_wanted, close_link, connect_to, answer_waiter, make_room, seal_room,
                            drop_room, forget_unfinished>;

} // namespace troupe::internal::handles
