// Records the links of another node.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <string>
#include <vector>

#include <troupe/base/export.hpp>
#include <troupe/base/sizes.hpp>
#include <troupe/framework/link_options.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/serializers/describe.hpp>

namespace troupe {

class link;

struct remote_recording_report {
  std::uint64_t records = 0;          ///< That the peer has sent.
  std::uint64_t refused = 0;          ///< Of these, those that do not belong on a tape. They are not written.
  std::uint64_t messages = 0;         ///< That the peer has sent, whether or not they could be written.
  std::uint64_t dropped_messages = 0; ///< That the peer could not keep until they were taken. The tape says more.
  std::uint64_t lost_messages = 0;    ///< That could not be written here. The tape says more.
  std::string ended_early = {};       ///< Why the recording ended before its time. Empty: it did not.
};

struct remote_recording_options {
  /// Where the tape is written, on this host. Its `queue_bytes` bounds what waits at the peer; there, at most 64 MiB.
  recording_options to = {};
  /// Only messages from or to actors of these names, which the peer's node has published or its peers have found.
  /// Frames of such messages that travelled in more than 8 MiB of chunks are recorded as sizes. Empty: all messages.
  std::vector<std::string> actors = {};
  /// How long to record.
  std::chrono::milliseconds time{std::chrono::hours{24}};
  /// Ends the recording when it returns true. Called several times a second on the calling thread. Null: never.
  std::function<bool()> is_enough = {};
  /// How long the peer may take to answer.
  std::chrono::milliseconds answer_timeout = std::chrono::seconds{10};
};

/// Records all links of the peer's node, except for those to the node of this link. The peer's end of the link must
/// have `allow_recording`.
///
/// The peer keeps the messages until this call takes them, up to the bound, and holds up none of its links. What finds
/// no room there is missing on the tape, which says how much. If this process ends, the peer ends the recording after
/// 10 seconds. Values within the peer's process are recorded as their memory.
///
/// Blocks until the time is over, the link ends, or `is_enough` returns true. Fails with `bad_option` if the tape
/// cannot be made, with `not_allowed`, with `link_busy` if the peer is recorded 4 times already, and as link::report
/// does. If it fails, there is no tape. What happens later is in the report.
[[nodiscard]] TROUPE_EXPORT std::expected<remote_recording_report, node_error>
record_peer(link& peer, const remote_recording_options& options);

/// @private Begins a recording, continues or ends it. Travels.
struct recording_query {
  std::uint64_t recording = 0; // 0: begins one.
  bool ends = false;
  std::string observer;            // The name of the node that asks. Its links are not recorded.
  std::vector<std::string> actors; // remote_recording_options::actors.
  std::uint64_t queue_bytes = 8_MiB;
};
TROUPE_DESCRIBE(recording_query, recording, ends, observer, actors, queue_bytes)

/// @private What was recorded since the last query. Travels.
struct recording_part {
  std::uint64_t recording = 0;
  std::vector<std::uint8_t> records; // As in a block of a tape.
};
TROUPE_DESCRIBE(recording_part, recording, records)

} // namespace troupe
