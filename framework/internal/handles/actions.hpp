// What the ledger of handles wants done.
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

/// Write it, in order with everything else on that link.
struct send_message {
  link_number link = 0;
  message what;
};
/// There is something for next_chunk() to give for that link.
struct bytes_wanted {
  link_number link = 0;
};
/// The peer broke the protocol, or said that the link is lost. The ledger has ended the link already.
struct close_link {
  link_number link = 0;
  handle_errc why = handle_errc::none;
  std::string_view text; // Static.
};
/// A handle could be had from there. To be ignored where there is no way.
/// At most `ledger_options::dials_max` at a time come of what one peer says.
struct connect_to {
  node_name node;
};
/// Why a fetch has failed.
struct fetch_error {
  handle_errc code = handle_errc::none;
  // For `too_many`: how many handles it would have imported, and how many it may. 0 where that was a peer's limit.
  std::uint64_t imports = 0;
  std::uint64_t imports_max = 0;
  // For `object_lost`, where it is known: the link over which the handle had come, and whether the peer there has said
  // that it is lost; else that link was lost. For `full` and `busy`: the same of the peer that said so of itself, or of
  // one that it is behind; else it is this node's own store.
  link_number source = 0;
  bool was_told = false;
  bool is_behind = false;
  bool is_disk_full = false; // Of `full`, where a peer has said so.

  friend bool operator==(const fetch_error&, const fetch_error&) = default;
};
/// The answer to one fetch(). Without an error it brings one reference, which keeps the bytes until it is dropped:
/// whoever asked may have dropped its own meanwhile.
struct answer_waiter {
  waiter_id waiter = 0;
  fetch_error error;
  reference object;
  room_id room = 0; // Where it is given up: what had been begun for it, 0 where that was nothing yet.
  // For words: the object's size, and how long it was waited for.
  std::uint64_t size_bytes = 0;
  std::chrono::nanoseconds waited{};
};
/// What somebody has itself: the same bytes, whoever on a host asks for them.
struct original {
  node_name exporter;
  object_id name; // The exporter's.

  friend auto operator<=>(const original&, const original&) = default;
};
/// Make a builder; answer with room_made(), room_found() or room_failed(), now or later.
struct make_room {
  room_id room = 0;
  std::uint64_t size_bytes = 0;
  std::optional<original> of; // Nothing where the bytes are the source's to fetch first.
  link_number source = 0;     // Who says so.
};
/// Seal it, with these captured; answer with room_sealed() or room_failed(). The captured ones are held until then.
struct seal_room {
  room_id room = 0;
  std::vector<object_id> captured;
  reference unfinished; // Whose bytes it takes: then it is still to be made. Refers to nothing for replicas.
};
/// The bytes that the caller of add_unfinished() has kept for this are not needed any more.
struct forget_unfinished {
  reference what;
};
/// Forget it in whatever state it is, sealed too. Answers that come late are ignored.
struct drop_room {
  room_id room = 0;
};

using action = std::variant<send_message, bytes_wanted, close_link, connect_to, answer_waiter, make_room, seal_room,
                            drop_room, forget_unfinished>;

} // namespace troupe::internal::handles
