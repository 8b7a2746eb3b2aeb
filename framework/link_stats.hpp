// The counters of links.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <troupe/framework/latency_stats.hpp>
#include <troupe/serializers/describe.hpp>

namespace troupe {

/// Counts payloads; a message has one payload per element. `bytes` is the size of their frames as they travel, so after
/// compression. `time` is an estimate of the time for encoding with compression, or for decoding. Of payloads below 4
/// KiB, only the first of each type and then one in 64 are timed.
struct payload_totals {
  std::uint64_t payloads = 0;
  std::uint64_t bytes = 0;
  std::chrono::nanoseconds time{0};
};
TROUPE_DESCRIBE(payload_totals, payloads, bytes, time)

/// What one family carried of one type. The family is "none" for values that are handed over within a process without
/// being encoded. The bytes of such values are their size in memory, and their time is 0.
struct type_stats {
  std::string family;
  std::string type; // The alias in this node's registry. A type that only the peer knows has no row.
  payload_totals sent;
  payload_totals received;
};
TROUPE_DESCRIBE(type_stats, family, type, sent, received)

/// What one link has done so far. Bytes through the socket include packet heads and everything else that is written.
struct link_stats {
  /// Includes messages that waited on this end and were then dropped for newer ones (`dropped`).
  std::uint64_t messages_sent = 0;
  std::uint64_t messages_received = 0;
  std::uint64_t socket_bytes_sent = 0;
  std::uint64_t socket_bytes_received = 0;
  std::uint64_t handle_bytes_sent = 0; // The size of the frames that traveled as handles.
  std::uint64_t handle_bytes_received = 0;
  std::uint64_t pulled_bytes_sent = 0; // Bytes of objects that the other end asked for.
  std::uint64_t pulled_bytes_received = 0;
  std::uint64_t spilled_bytes = 0;  // The part of the bytes sent as handles that was put into the store for sending.
  std::uint64_t unserializable = 0; // Not sent: no common family, or a value that cannot be encoded.
  /// The part of `unserializable` that policy forbids: values that the two ends' lists of families exclude, exit
  /// messages that the peer does not allow, and values that never cross links.
  std::uint64_t refused_by_policy = 0;
  std::uint64_t undecodable = 0; // Received, but not delivered.
  /// Messages that were sent after the link was down, were not written when it ended, or arrived for an actor that is
  /// gone. Bytes that the system accepted and the peer never read are not counted.
  std::uint64_t undelivered = 0;
  std::uint64_t store_fallbacks = 0;  // Frames that went through the socket because the store was full.
  std::uint64_t refused_at_bound = 0; // Not sent, because the peer had not consumed enough.
  std::uint64_t dropped = 0;          // Dropped while waiting, to make room for newer messages.
  std::uint64_t forwarded = 0;        // Received for actors of other nodes and passed on without decoding.
  std::uint64_t expired = 0;          // Requests received and not handled, because their deadline had passed.
  // Current values, bounded by the link's options:
  std::uint64_t unconsumed_bytes_there = 0; // Sent, and not consumed according to the peer's last credit.
  std::uint64_t waiting_bytes = 0;          // Waiting on this end.
  std::uint64_t unconsumed_bytes_here = 0;  // Received, and not consumed.
  /// The same three values for the bytes behind handles, bounded by link_options::handle_window_bytes.
  std::uint64_t unconsumed_handle_bytes_there = 0;
  std::uint64_t waiting_handle_bytes = 0;
  std::uint64_t unconsumed_handle_bytes_here = 0;
  std::uint64_t unread_bytes = 0; // Bytes being sent that the operating system has not taken yet.
  /// Current value, without a bound: bytes of large frames that came through the socket and are still alive. They are
  /// still arriving, in messages, or kept by actors' views.
  std::uint64_t large_frame_bytes_here = 0;
  /// Current values: how many bytes may be sent and not consumed, as both ends agreed, and how many of them are left. A
  /// message to one actor may have to wait although credit is left (link_options::actor_window_bytes).
  std::uint64_t window_bytes = 0;
  std::uint64_t credit_bytes = 0;
  /// Current values: this end's actors that the peer may address, and the peer's actors to which this end refers.
  std::uint64_t actors_exported = 0;
  std::uint64_t actors_imported = 0;
  // The times are the sums over all rows of `by_type`, which has a row for each family and type, sorted by family and
  // then by type. If node_options::detailed_stats is off, the times are 0, there are no rows, and there are no
  // latencies.
  std::chrono::nanoseconds encode_time{0};
  std::chrono::nanoseconds decode_time{0};
  std::vector<type_stats> by_type;
  link_latencies latencies;
};
TROUPE_DESCRIBE(link_stats, messages_sent, messages_received, socket_bytes_sent, socket_bytes_received,
                handle_bytes_sent, handle_bytes_received, pulled_bytes_sent, pulled_bytes_received, spilled_bytes,
                unserializable, refused_by_policy, undecodable, undelivered, store_fallbacks, refused_at_bound, dropped,
                forwarded, expired, unconsumed_bytes_there, waiting_bytes, unconsumed_bytes_here,
                unconsumed_handle_bytes_there, waiting_handle_bytes, unconsumed_handle_bytes_here, unread_bytes,
                large_frame_bytes_here, window_bytes, credit_bytes, actors_exported, actors_imported, encode_time,
                decode_time, by_type, latencies)

} // namespace troupe
