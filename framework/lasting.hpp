// Handles that outlive the links to their actors: node::lasting.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <caf/actor.hpp>
#include <caf/allowed_unsafe_message_type.hpp>

#include <troupe/base/export.hpp>
#include <troupe/base/sizes.hpp>
#include <troupe/framework/link_options.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/framework/reconnect_policy.hpp>

namespace troupe {

/// A change of what a lasting handle leads to.
struct lasting_event {
  enum class kind : std::uint8_t {
    found,    ///< Messages go to an actor at `address`.
    lost,     ///< Messages wait: the actor has ended, its link is down, or its name was withdrawn. `reason` says which.
    given_up, ///< Messages fail from now on. This is the last event.
    // Only if the handle has lasting_options::idle_close:
    resting,    ///< The handle was idle, and needs no link. The next message makes one.
    unreachable ///< The actor was not found at once. The handle goes on looking for it. Told at most once until the
                ///< handle rests or finds it.
  };

  kind what = kind::given_up;
  /// The name under which the actor is looked up.
  std::string name = {};
  /// Where the actor is or was found; empty if `given_up`.
  std::string address = {};
  /// `none` if `found` or `resting`.
  node_error reason = {node_errc::none, {}};
};

/// The receivers of a lasting handle's events: a function, an actor, both or none. Each gets the events in order.
struct lasting_events {
  /// Called on the node's main I/O thread. It must not throw and must not block.
  std::function<void(const lasting_event&)> callback = {};
  /// Gets each event as a message, `[](const troupe::lasting_event& event)`. It must be an actor of this process. It is
  /// not kept alive.
  caf::actor listener = {};
};

/// What a lasting handle does with a request that was sent and not answered when its link was lost.
enum class request_retry : std::uint8_t {
  /// It fails with `link_down`. It was handled at most once.
  none,
  /// It is sent again to the same process, which recognizes it and handles it once, and answers from memory if it was
  /// handled before. If there are several addresses, the handle waits for that process for 1 s before it asks another
  /// one. The request fails with `outcome_unknown` if the process has ended, if the actor is then found in another
  /// process, or if the request is not remembered any more (node_options::answer_memory_bytes). The source of the
  /// algorithm is RIFL (Lee et al., SOSP 2015); but nothing is kept on disk.
  repeat_idempotent,
  /// It is sent again to whichever actor is found, which may handle it once more: at least once.
  repeat
};

/// How a lasting handle finds its actor, and what happens to messages meanwhile.
struct lasting_options {
  /// How long a message waits for the actor before it fails with `link_down`; at least 0. Lower: senders learn earlier
  /// that the service is away.
  std::chrono::milliseconds patience = std::chrono::seconds(30);
  /// How many bytes of messages may wait for the actor. A message counts as 640 bytes and the memory of its values. If
  /// nothing waits, one message may exceed the bound. A message that does not fit fails with `link_busy`.
  std::size_t queue = 1_MiB;
  /// What happens to requests under way when the link is lost. If they are repeated, they count against `queue` until
  /// they are answered, and their receivers see the handle in place of the sender.
  request_retry retry = request_retry::none;
  /// How long the actor may stay away before the handle is given up; nullopt: no limit.
  std::optional<std::chrono::milliseconds> give_up = std::nullopt;
  /// nullopt: the link is made at once and kept. Otherwise links are made on demand: when a message waits, or at
  /// wake(). If the handle has passed on no message for this time, and at most half as long again, it rests. A link
  /// that no handle needs is closed, unless one end still refers to an actor or an object of the other, or waits for
  /// an answer. The next message makes a link again, and the order of messages stays. 0: the link is made on demand
  /// and kept. Lower: fewer links are open; but the first message after each pause waits for a link.
  std::optional<std::chrono::milliseconds> idle_close = std::nullopt;
  /// The options of the links. Lasting handles of one node with the same address, options and policy share a link.
  link_options link = {};
  /// When a lost link is dialed again. If `attempts_max` ends the dialing at all addresses, the handle is given up.
  reconnect_policy policy = {};
  lasting_events events = {};
};

/// Lets a resting lasting handle look for its actor now, as a message would. Does nothing for other actors. Threads:
/// any.
TROUPE_EXPORT void wake(const caf::actor& lasting_handle);

/// Why the lasting handle has no actor: what its address has said last, such as `not_found`, `not_allowed`,
/// `interface_mismatch`, or why there is no link. With several addresses, the text names each, and the code is that of
/// the first. After the handle was given up: why. `none` if it has an actor, or nothing has failed since it had one;
/// also for other actors. Threads: any.
[[nodiscard]] TROUPE_EXPORT node_error absence_of(const caf::actor& lasting_handle);

} // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::lasting_event)
