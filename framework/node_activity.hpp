// What happens in a node: its actors, supervisors, dead letters, traces and lost links. Orders to a node.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <troupe/serializers/describe.hpp>

namespace troupe {

/// A question to a node (link::activity, node::activity). A field that is missing has its default below.
///
/// A node keeps letters and spans only while they are asked for: from the first query that has the flag until 10 s
/// after the last one. So the first answer has none.
struct activity_query {
  bool actors = true;
  bool supervisors = true;
  bool letters = true;
  bool spans = true;
  std::uint64_t letters_after = 0; // Only letters and spans with higher numbers are returned.
  std::uint64_t spans_after = 0;
};
TROUPE_DESCRIBE(activity_query, actors, supervisors, letters, spans, letters_after, spans_after)

/// An actor of the node that is published or that peers can address.
struct actor_activity {
  std::string name;        // Under which it is published; of several names the first by alphabet. Empty: none.
  std::uint64_t actor = 0; // Its id in the actor system.
  std::string kind;        // Its C++ class, or that of its state if it has one. Empty: an actor of another node.
  /// Messages that came over links and that the actor has not consumed: messages in its mailbox, the one that it
  /// handles, and those that it has skipped or keeps. Not counted: answers, and messages of actors of the same process.
  /// The bytes count as in link_options::window_bytes.
  std::uint64_t waiting_messages = 0;
  std::uint64_t waiting_bytes = 0;
  std::vector<std::uint64_t> links; // Links over which it was sent: link::number(). At most 64.
  std::uint64_t links_omitted = 0;  // Further links.
};
TROUPE_DESCRIBE(actor_activity, name, actor, kind, waiting_messages, waiting_bytes, links, links_omitted)

/// A child of a supervisor.
struct child_activity {
  std::string name;
  std::uint64_t actor = 0; // The id of its actor, in the system that has the actor. 0: not running, or no actor.
  std::string kind;        // "actor", "remote actor", "process" or "supervisor".
  /// "waiting" (for its first start), "starting", "running", "stopping", "restarting" (it waits to be started again),
  /// or "ended".
  std::string state;
  std::uint64_t restarts = 0; // Starts after the first one.
  std::uint32_t process = 0;  // Of a process: its id. 0: not running.
  std::string reason;         // Why its last run ended. Empty: normally, or never.
};
TROUPE_DESCRIBE(child_activity, name, actor, kind, state, restarts, process, reason)

/// A supervisor of the node's actor system.
struct supervisor_activity {
  std::uint64_t actor = 0;
  std::string name;               // That its own supervisor has given to it. Empty: it is no child.
  std::string strategy;           // The name of a troupe::restart.
  std::uint64_t parent = 0;       // The id of its own supervisor; 0: none.
  std::uint64_t restarts = 0;     // So far.
  std::uint64_t restarts_max = 0; // supervisor_options::most: so many restarts within `within_ms` are survived.
  std::int64_t within_ms = 0;
  std::vector<child_activity> children; // In order.
  std::uint64_t children_omitted = 0;
};
TROUPE_DESCRIBE(supervisor_activity, actor, name, strategy, parent, restarts, restarts_max, within_ms, children,
                children_omitted)

/// A message that could not be delivered, without its values: dead_letter.hpp.
struct letter_activity {
  std::uint64_t number = 0; // Rises from letter to letter.
  std::int64_t at_ms = 0;   // Since the Unix epoch.
  std::string peer;
  std::uint64_t link = 0;
  bool has_arrived = false;
  bool is_request = false;
  std::string reason; // The name of a node_errc.
  std::string text;
  std::vector<std::string> types; // At most 16.
};
TROUPE_DESCRIBE(letter_activity, number, at_ms, peer, link, has_arrived, is_request, reason, text, types)

/// A hop of a sampled message: span.hpp.
struct span_activity {
  std::uint64_t number = 0; // Rises from span to span.
  std::string trace;        // In hexadecimal digits, as `id` and `parent`.
  std::string id;
  std::string parent; // Empty: none.
  std::string kind;   // The name of a span_kind.
  std::string name;
  std::string types;
  std::int64_t start_us = 0; // Since the Unix epoch.
  std::int64_t duration_us = 0;
  std::int64_t wire_ns = -1; // -1: unknown, as for the next three.
  std::int64_t decode_ns = -1;
  std::int64_t queue_ns = -1;
  std::int64_t handler_ns = -1;
  std::string peer;
  std::uint64_t link = 0;
  std::uint64_t actor = 0;
  std::uint64_t bytes = 0; // 0: unknown.
  std::string family;
  std::string error;
};
TROUPE_DESCRIBE(span_activity, number, trace, id, parent, kind, name, types, start_us, duration_us, wire_ns, decode_ns,
                queue_ns, handler_ns, peer, link, actor, bytes, family, error)

/// A link that has ended.
struct lost_link {
  std::uint64_t number = 0; // link::number()
  std::string peer;
  std::string address;
  std::int64_t at_ms = 0; // Since the Unix epoch.
  std::string reason;     // The name of a node_errc.
  std::string text;
};
TROUPE_DESCRIBE(lost_link, number, peer, address, at_ms, reason, text)

/// The answer to an activity_query. Texts of more than 256 bytes are cut.
struct node_activity {
  std::string name; // Of the node.
  std::uint32_t process = 0;
  std::vector<actor_activity> actors;           // The 1,000 with the most bytes waiting; these come first.
  std::uint64_t actors_omitted = 0;             // Further actors of this node, each once.
  std::vector<supervisor_activity> supervisors; // At most 1,000, with at most 4,000 children in all.
  std::uint64_t supervisors_omitted = 0;
  std::vector<letter_activity> letters; // By number. The node keeps the last 256.
  std::uint64_t letters_lost = 0;       // With numbers above `letters_after`, and no longer kept.
  std::vector<span_activity> spans;     // By number. The node keeps the last 4,096.
  std::uint64_t spans_lost = 0;
  std::vector<lost_link> lost_links; // The last 32, by time.
};
TROUPE_DESCRIBE(node_activity, name, process, actors, actors_omitted, supervisors, supervisors_omitted, letters,
                letters_lost, spans, spans_lost, lost_links)

/// What a node is to do. Travels by its name.
enum class order_kind : std::uint8_t {
  close_link,          ///< link::close() of the link `number`.
  reconfigure_link,    ///< link::reconfigure() of that link.
  release_out_of_band, ///< Ends the out-of-band pin (out_of_band.hpp) of `object`.
  none                 ///< Nothing: an order that was left empty. It is refused.
};
TROUPE_DESCRIBE_ENUM(order_kind, close_link, reconfigure_link, release_out_of_band, none)

/// An order to a node (link::order). The other node must allow it: link_options::allow_orders. Fields that the order
/// does not need are left empty.
struct node_order {
  order_kind what = order_kind::none;
  std::uint64_t number = 0;                  // link::number() in that node's process.
  std::vector<std::string> serializers = {}; // reconfigure_link: the new lists. Empty: the list does not change.
  std::vector<std::string> deserializers = {};
  std::string compression = {}; // reconfigure_link: the name of a troupe::compression. Empty: it does not change.
  std::string object = {};      // release_out_of_band: as memory_object::object has it.
};
TROUPE_DESCRIBE(node_order, what, number, serializers, deserializers, compression, object)

/// @private The answer to an order that was carried out.
struct order_receipt {
  std::uint32_t process = 0; // That has carried it out.
};
TROUPE_DESCRIBE(order_receipt, process)

} // namespace troupe
