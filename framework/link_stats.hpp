// What links count.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <troupe/serializers/describe.hpp>

namespace troupe {

/// Payloads: a message has one for each of its elements. `bytes` are those of their frames as they travel, compressed
/// where they are; `time` is what encoding (with compressing) or decoding took, an estimate from some of them: payloads
/// of less than 4 KiB are timed once in 64, the first of each type besides.
struct payload_totals {
  std::uint64_t payloads = 0;
  std::uint64_t bytes = 0;
  std::chrono::nanoseconds time{0};
};
TROUPE_DESCRIBE(payload_totals, payloads, bytes, time)

/// What was carried of one type by one family. The family is "none" where values are handed over as they are, within a
/// process; their bytes are what they take in memory, and no time.
struct type_stats {
  std::string family;
  std::string type; // Its alias in the node's registry: what a peer names and this node does not know has no row.
  payload_totals sent;
  payload_totals received;
};
TROUPE_DESCRIBE(type_stats, family, type, sent, received)

/// What one link has done so far. Bytes through the socket include heads and everything else that is written.
struct link_stats {
  /// Also those that waited here until there was room and then gave way to others (`dropped`, when_full::drop_oldest).
  std::uint64_t messages_sent = 0;
  std::uint64_t messages_received = 0;
  std::uint64_t socket_bytes_sent = 0;
  std::uint64_t socket_bytes_received = 0;
  std::uint64_t handle_bytes_sent = 0; // Size of the frames that travelled as handles.
  std::uint64_t handle_bytes_received = 0;
  std::uint64_t pulled_bytes_sent = 0; // Of objects, asked for by the other end.
  std::uint64_t pulled_bytes_received = 0;
  std::uint64_t spilled_bytes = 0;  // Of those sent as handles, what had to be put into the store for it.
  std::uint64_t unserializable = 0; // Not sent: no family in common, or a value that cannot be encoded.
  /// Of those, what the two ends' lists of families forbid, exit messages that the peer does not allow, and what does
  /// not cross links at all.
  std::uint64_t refused_by_policy = 0;
  std::uint64_t undecodable = 0; // Received, but not delivered.
  /// Sent after the link was down, or not written when it ended, or received for nobody. What the system had taken for
  /// a peer that then did not read it is not known.
  std::uint64_t undelivered = 0;
  std::uint64_t store_fallbacks = 0;  // Frames that went through the socket because the store was full.
  std::uint64_t refused_at_bound = 0; // Not sent, because the peer had not consumed enough.
  std::uint64_t dropped = 0;          // Dropped while they waited, to make room for newer ones.
  std::uint64_t forwarded = 0;        // Received for actors of other nodes and passed on without being decoded.
  // Now, against the bounds of the link's options:
  std::uint64_t unconsumed_bytes_there = 0; // Sent and not consumed by the peer, as far as it has said.
  std::uint64_t waiting_bytes = 0;          // Waiting on this end.
  std::uint64_t unconsumed_bytes_here = 0;  // Received and not consumed.
  /// The first three again for the bytes behind handles, against link_options::handle_window_bytes.
  std::uint64_t unconsumed_handle_bytes_there = 0;
  std::uint64_t waiting_handle_bytes = 0;
  std::uint64_t unconsumed_handle_bytes_here = 0;
  std::uint64_t unread_bytes = 0; // Written, or large frames on their way, and not taken by the system.
  /// Now, and against no bound: large frames that came through the socket and still live, on their way in, in messages,
  /// or because actors keep views of them.
  std::uint64_t large_frame_bytes_here = 0;
  /// Now: how much may be sent and not consumed, as both ends agreed, and how much of that is left. Messages to one
  /// actor may have to wait although some is left, see link_options::actor_window_bytes.
  std::uint64_t window_bytes = 0;
  std::uint64_t credit_bytes = 0;
  /// Now: actors of this end that the peer may address, and actors of the peer that something here refers to.
  std::uint64_t actors_exported = 0;
  std::uint64_t actors_imported = 0;
  // Nothing where node_options::detailed_stats is off; else by family, then by type, and the sums of their times.
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
