// Sends the messages of a tape again.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <caf/fwd.hpp>

#include <troupe/base/export.hpp>
#include <troupe/base/sizes.hpp>
#include <troupe/framework/fwd.hpp>
#include <troupe/framework/link.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/framework/tape.hpp>
#include <troupe/serializers/family.hpp>
#include <troupe/serializers/type_entry.hpp>

namespace troupe {

/// Prepares the registry of a node for replay(): types that the registry does not have pass as they are. To be called
/// before the node is opened.
TROUPE_EXPORT void add_replay_types(type_registry& types);

struct replay_report;

struct replay_options {
  /// How much faster than recorded; 0: as fast as the bounds below permit.
  double speed = 1;
  /// The families that encode the messages, in order of preference. Empty: they are sent as they were. A payload is
  /// encoded again if the registry has its type, or, for `msgpack` and `json`, if it describes itself.
  std::vector<std::string> families = {};
  /// Compares the answers with those on the tape.
  bool expect_answers = false;
  /// The names of actors on the tape, and the names under which the peer publishes those that replace them. Empty: all
  /// actors that have a name on the tape, with the same names.
  std::map<std::string, std::string> actors = {};
  /// Sends only what that end has sent. Nullopt: what both have sent.
  std::optional<tape_side> side = std::nullopt;
  /// How long the peer may take to publish an actor, to answer a request, and to take a message.
  std::chrono::milliseconds find_timeout = std::chrono::seconds{5};
  std::chrono::milliseconds answer_timeout = std::chrono::seconds{10};
  /// The requests that may wait for answers. At this bound, the replay waits, and is later than recorded.
  std::size_t requests_most = 1'000;
  /// The bytes that may wait on the link.
  std::size_t waiting_bytes_most = 1_MiB;
  /// Of how many differences the report has the text.
  std::size_t differences_most = 100;
  /// The files of the same recording that follow, in their order.
  std::vector<std::string> next_files = {};
  /// Called about once a second on the thread that replays.
  std::function<void(const replay_report&)> progress = {};
};

/// An answer that is not the recorded one.
struct replay_difference {
  std::uint64_t message = 0; ///< tape_message::number of the request.
  std::string actor = {};    ///< The name on the tape.
  std::string what = {};     ///< The place and both values.
};

struct replay_report {
  std::uint64_t messages = 0; ///< That were sent, with the requests.
  std::uint64_t requests = 0;
  std::uint64_t answers = 0;    ///< To these.
  std::uint64_t unanswered = 0; ///< Within answer_timeout.
  std::uint64_t same = 0;       ///< Answers that are as recorded.
  std::uint64_t different = 0;
  /// Answers that the tape does not have, or whose values need the program or have handles of actors or objects.
  std::uint64_t uncompared = 0;
  std::uint64_t unasked = 0; ///< Requests to chosen actors with a name that could not be sent; `skipped` tells why.
  std::vector<replay_difference> differences = {}; ///< The first ones.
  /// Messages that were not sent, by reason: to actors without a name on the tape, not whole, with handles that mean
  /// nothing here, or not to be encoded by the families that were asked for.
  std::map<std::string, std::uint64_t> skipped = {};
  std::uint64_t damages = 0;          ///< Parts of the tape that cannot be read.
  std::chrono::nanoseconds latest{0}; ///< By how much a message was later than recorded, at most.
  std::string ended_early = {};       ///< Why not all was sent. Empty: all was.

  /// Whether the answers were as expected, and all requests were sent to whose receivers there is a name.
  [[nodiscard]] bool is_clean() const {
    return different == 0 && unanswered == 0 && unasked == 0 && ended_early.empty();
  }
};

/// Sends the messages of a tape whose receivers have names to the actors that the peer publishes under these names, in
/// the order and with the times in which they travelled. Answers are awaited, and compared if asked for. Handles of
/// actors in the messages stand for the actors of their names, too; messages with other handles are skipped.
///
/// Blocks until all is answered. Messages never leave earlier than recorded, by the given speed, but later if the peer
/// or this thread is slower.
///
/// Fails with `bad_option` if the registry was not prepared (add_replay_types) or an option has no meaning, and as
/// tape::go_on() does if one of `next_files` cannot be read. What the peer does is in the report.
///
/// Requires: the calling thread runs no actors; `system`, `types` and `families` are those of the link's node.
[[nodiscard]] TROUPE_EXPORT std::expected<replay_report, node_error>
replay(tape& from, link& to, caf::actor_system& system, const type_registry& types, const family_set& families,
       const replay_options& options = {});

} // namespace troupe
