// The counters of links.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <troupe/serializers/describe.hpp>

namespace troupe {

/// Counts payloads; a message has one payload per element. `bytes` is the size of their frames as they travel,
/// compressed if they are. `time` is an estimate of what encoding (with compression) or decoding took: of payloads of
/// less than 4 KiB only the first of each type and one in 64 are timed.
struct payload_totals {
  std::uint64_t payloads = 0;
  std::uint64_t bytes = 0;
  std::chrono::nanoseconds time{0};
};
TROUPE_DESCRIBE(payload_totals, payloads, bytes, time)

/// What one family carried of one type. The family is "none" for values that are handed over within a process without
/// being encoded; their bytes are what they take in memory, and their time is 0.
struct type_stats {
  std::string family;
  std::string type; // Its alias in this node's registry. A type that only the peer knows has no row.
  payload_totals sent;
  payload_totals received;
};
TROUPE_DESCRIBE(type_stats, family, type, sent, received)

/// What one link has done so far. Bytes through the socket include packet heads and everything else that is written.
struct link_stats {
  /// Includes messages that waited on this end and were then dropped for newer ones (`dropped`,
  /// when_full::drop_oldest).
  std::uint64_t messages_sent = 0;
  std::uint64_t messages_received = 0;
  std::uint64_t socket_bytes_sent = 0;
  std::uint64_t socket_bytes_received = 0;
  std::uint64_t handle_bytes_sent = 0; // Size of the frames that traveled as handles.
  std::uint64_t handle_bytes_received = 0;
  std::uint64_t pulled_bytes_sent = 0; // Bytes of objects that the other end asked for.
  std::uint64_t pulled_bytes_received = 0;
  std::uint64_t spilled_bytes = 0;  // The part of the bytes sent as handles that was put into the store for sending.
  std::uint64_t unserializable = 0; // Not sent: no common family, or a value that cannot be encoded.
  /// Of `unserializable`: values forbidden by the two ends' lists of families, exit messages that the peer does not
  /// allow, and values that never cross links.
  std::uint64_t refused_by_policy = 0;
  std::uint64_t undecodable = 0; // Received, but not delivered.
  /// Sent after the link was down, not written when it ended, or received for an actor that is gone. Does not include
  /// bytes that the system accepted and the peer never read.
  std::uint64_t undelivered = 0;
  std::uint64_t store_fallbacks = 0;  // Frames that went through the socket because the store was full.
  std::uint64_t refused_at_bound = 0; // Not sent, because the peer had not consumed enough.
  std::uint64_t dropped = 0;          // Dropped while waiting, to make room for newer messages.
  std::uint64_t forwarded = 0;        // Received for actors of other nodes and passed on without decoding.
  // Current values, against the bounds of the link's options:
  std::uint64_t unconsumed_bytes_there = 0; // Sent, and not consumed according to the peer's last credit.
  std::uint64_t waiting_bytes = 0;          // Waiting on this end.
  std::uint64_t unconsumed_bytes_here = 0;  // Received, and not consumed.
  /// The same three values for the bytes behind handles, against link_options::handle_window_bytes.
  std::uint64_t unconsumed_handle_bytes_there = 0;
  std::uint64_t waiting_handle_bytes = 0;
  std::uint64_t unconsumed_handle_bytes_here = 0;
  std::uint64_t unread_bytes = 0; // In messages and large frames being sent: bytes that the system has not taken.
  /// Current value, without a bound: large frames that came through the socket and are still alive, because they are
  /// still arriving, are in messages, or are kept by actors' views.
  std::uint64_t large_frame_bytes_here = 0;
  /// Current values: how much may be sent and not consumed, as both ends agreed, and how much of that is left. A
  /// message to one actor may have to wait although credit is left, see link_options::actor_window_bytes.
  std::uint64_t window_bytes = 0;
  std::uint64_t credit_bytes = 0;
  /// Current values: actors of this end that the peer may address, and actors of the peer to which this end refers.
  std::uint64_t actors_exported = 0;
  std::uint64_t actors_imported = 0;
  // `by_type` has a row for each family and type, sorted by family and then by type, and the times are the sums over
  // all rows. Empty, and 0, if node_options::detailed_stats is off.
  std::chrono::nanoseconds encode_time{0};
  std::chrono::nanoseconds decode_time{0};
  std::vector<type_stats> by_type;
};
TROUPE_DESCRIBE(link_stats, messages_sent, messages_received, socket_bytes_sent, socket_bytes_received,
                handle_bytes_sent, handle_bytes_received, pulled_bytes_sent, pulled_bytes_received, spilled_bytes,
                unserializable, refused_by_policy, undecodable, undelivered, store_fallbacks, refused_at_bound, dropped,
                forwarded, unconsumed_bytes_there, waiting_bytes, unconsumed_bytes_here, unconsumed_handle_bytes_there,
                waiting_handle_bytes, unconsumed_handle_bytes_here, unread_bytes, large_frame_bytes_here, window_bytes,
                credit_bytes, actors_exported, actors_imported, encode_time, decode_time, by_type)

} // namespace troupe
