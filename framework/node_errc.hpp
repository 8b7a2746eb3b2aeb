// Why a call of a node or link failed.
#pragma once

#include <cstdint>
#include <string>

#include <troupe/base/error.hpp>
#include <troupe/base/export.hpp>

namespace troupe {

/// Why a call of framework/ failed, grouped by what the caller can do. Values travel between nodes: append only.
enum class node_errc : std::uint8_t {
  none = 0,
  // Change the program or its options.
  bad_option = 1,        // An option or argument has an unusable value; the text names it.
  bad_address = 2,       // The address cannot be parsed, or this host cannot listen there or dial it.
  name_taken = 3,        // Another actor is published under this name.
  nothing_in_common = 4, // One end of a link accepts none of the families that the other sends.
  refused_family = 5,    // A value has no family that both ends of the link allow.
  unserializable = 6,    // A value cannot be encoded; the text says which part and why.
  unsupported = 7,       // Remote actors do not offer this operation, or this thread must not block.
  // Ask for something else, or later.
  not_found = 8,          // Nothing is published or registered under this name.
  interface_mismatch = 9, // The actor or function has other messages, parameters or constructor arguments.
  timed_out = 10,         // No answer came in time, or a stopped process holds the store's lock.
  store_full = 11,        // The store, or this process's memory, has no room for the bytes.
  // Connect again.
  cannot_connect = 12,     // No listener or no permission; when listening: the address is in use.
  refused = 13,            // The peer refused this node; the text is the peer's.
  link_down = 14,          // The link or the node has ended; pending requests will not be answered.
  protocol_violation = 15, // The peer broke the protocol.
  // About a message that arrived.
  undecodable = 16, // A message arrived whole but was not delivered: it cannot be decoded, now or later.
  object_lost = 17, // The bytes behind a handle are gone, or the store is unusable.
  // Send again later.
  link_busy = 18, // The peer has not consumed enough of what it was sent (wait for link_ready), or too many questions
                  // are pending.
  // About tasks.
  not_allowed = 19, // The peer's end of the link does not allow this.
  task_failed = 20, // A function threw or returned an error; the text has it.
  // About actors that the peer spawns, and requests.
  broken_promise = 21, // The actor that got the request dropped it without an answer.
  spawn_failed = 22,   // An actor was not spawned; the text says why.
  // About objects, besides object_lost and store_full.
  fetch_timed_out = 23,    // The bytes did not arrive in time; they may still arrive.
  object_freed = 24,       // The reference was kept outside of messages, and its object has been freed.
  disk_full = 25,          // The store has no room, and its spill directory has none either.
  out_of_band_handle = 26, // A handle was serialized outside of a message; the text says what to do.
  // About requests that a lasting handle repeats.
  outcome_unknown = 28, // The request may have been handled, but its answer is lost, and it must not be repeated.
  // About versions of Troupe.
  version_mismatch = 27, // The peer speaks another version of the link protocol; the text names both.
  // About supervision.
  gave_up = 29,    // A supervisor has restarted its children too often; the text is its report.
  child_lost = 30, // The child that had the request has ended. Whether it handled the request is not known.
  no_child = 31,   // A pool had no running child in time, or too many messages waited for one. Send again later.
  // About the node at an address.
  another_peer = 32, // The node there has not proven the identity that link_options::peer_identity names.
  // About tapes.
  unreadable = 33, // The file is no tape, or damaged; the text says at which byte.
};

/// An error: its code, and a text of one line for people.
using node_error = basic_error<node_errc>;

/// Returns the enumerator's name.
[[nodiscard]] TROUPE_EXPORT std::string to_string(node_errc code);

} // namespace troupe
