// The admin messages of a link. They are always msgpack, as small self-describing maps. A reader skips unknown fields
// and gives missing ones their default, so fields may be added. Operations are numbered by hand: append only. A reader
// skips unknown operations from first_skippable_number (packet.hpp) on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <vector>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/wire/features.hpp>
#include <troupe/serializers/describe.hpp>
#include <troupe/serializers/limits.hpp>
#include <troupe/serializers/serialize_error.hpp>

namespace troupe::internal {

enum class admin_op : std::uint8_t {
  hello = 1,           // Each end, once the peer is admitted: its name, and what it sends and accepts.
  ready = 2,           // Dialer: the acceptor's hello is accepted.
  refuse = 3,          // Either end, instead of going on; the link closes.
  goodbye = 4,         // Either end: no more packets follow; the link closes.
  find = 5,            // Look up a published actor.
  found = 6,           // Answers find.
  monitor = 7,         // Importer: report the end of this actor of yours.
  down = 8,            // Exporter: an actor of mine that you monitor has ended.
  release_actor = 9,   // Importer: I dropped this actor of yours, which I received `count` times.
  release_object = 10, // Importer: I dropped this object of yours, which I received `count` times.
  credit = 11,         // Receiver: an actor of mine has consumed this much of what you sent it.
  ping = 12,           // Are you alive?
  pong = 13,           // Answers ping.
  greet = 14,          // Each end, first: its node, and the method of authentication.
  prove = 15,          // Each end, if a secret is used: proof of knowing it.
  opened = 16,         // Acceptor: the dialer's ready is accepted; the link is open.
  type_refused = 17,   // Reader: I cannot read this type of yours; do not send it.
  reconfigure = 18,    // Either end: the families that I send with and accept from now on.
  reconfigured = 19,   // Answers reconfigure, after the last message by the older lists.
  demonitor = 20,      // Importer: no longer report the end of this actor of yours.
  introduce = 21,      // Forwarder: the node of an actor for which I forward; before its first mention.
  withdraw = 22,       // Forwarder: you have dropped the actor; its number is not used again.
  // Handles of objects, see handle-protocol.md. The bytes come in packets of another kind.
  release_handle = 23,
  vouch = 24,
  adopt = 25,
  adopted = 26,
  reclaim = 27,
  reclaimed = 28,
  pull = 29,
  cancel_question = 30,
  pull_head = 31,
  pull_here = 32,
  question_refused = 33,
  handle_lost = 34,
  // A reader skips unknown operations from here on.
  whereabouts = 128, // Where this node listens, or a node whose handles follow: with the feature "whereabouts".
  // With the feature "rings", over unix sockets:
  ring_offer = 129,   // Dialer: offers memory for two rings. A descriptor goes with the packet.
  ring_begin = 130,   // Acceptor, then dialer: my next packets are in my ring.
  ring_decline = 131, // Acceptor, instead of ring_begin.
  name_changed = 132  // A name that you have found is withdrawn or published anew: with the feature "name_news".
};

/// The last operation that a reader has to understand.
inline constexpr admin_op last_admin_op = admin_op::handle_lost;

/// How the ends of a link authenticate. Numbered by hand: append only.
enum class greet_method : std::uint8_t {
  none = 0,  // The transport has authenticated the peer: a process of the same user, or certificates.
  secret = 1 // Each end proves that it knows the shared secret.
};

/// Everything that a peer learns before it has proven itself.
struct greet {
  std::uint32_t process = 0;    // With `host`: the node id.
  std::string host;             // 40 hexadecimal digits.
  std::vector<std::byte> nonce; // 32 bytes, fresh for each link.
  std::uint8_t method = 0;      // greet_method
  // loopback_ends::sum as this end computes it, if the connection stays within its host.
  std::vector<std::byte> connection = {};
};
TROUPE_DESCRIBE(greet, process, host, nonce, method, connection)

struct prove {
  std::vector<std::byte> proof; // 32 bytes: HMAC-SHA256 with the secret over the handshake so far.
};
TROUPE_DESCRIBE(prove, proof)

struct hello {
  std::uint16_t version = 0;
  std::string name;
  std::vector<std::byte> token; // 32 bytes, equal on all links of a node: the public part of its key.
  std::vector<std::string> serializers;
  std::vector<std::string> deserializers;
  std::uint64_t message_bytes = 0; // The largest message that this end accepts.
  // How much the peer may have sent and not consumed here: on the link, and for one actor.
  std::uint64_t window_bytes = 32_MiB;
  std::uint64_t actor_window_bytes = 8_MiB;
  // The store to share: the process's slot in it, and the nonce in that slot, to which store_proof refers. Nonce zero:
  // no store.
  std::uint64_t store_number = 0;
  std::uint32_t store_slot = 0;
  std::uint64_t store_nonce = 0;
  std::uint64_t channel = 0; // Chosen by the dialer; identifies the link in the store.
  bool shares_store = false; // Set by the acceptor, which has checked the dialer's nonce.
  std::uint64_t tasks = 0;   // The actor that runs the peer's tasks; 0: the link does not allow tasks.
  bool verifies = false;     // Within a process: encode everything nevertheless.
  std::uint64_t spawner = 0; // The actor that spawns actors for the peer; 0: the link does not allow it.
  bool exits = false;        // This end allows exit messages.
  // The peer uses these to tell third nodes the owner of an actor that it got on this link.
  std::uint64_t link = 0;
  std::vector<std::byte> introduction_key; // 32 bytes
  // The largest header, and the most frames of one element, that this end accepts.
  std::uint64_t header_bytes = limits{}.header_bytes;
  std::uint64_t frames = limits{}.frames;
  std::uint64_t incarnation = 0;       // Of the node, which counts handles; 0: objects travel with their bytes.
  std::uint64_t inspector = 0;         // The actor that reports what the node keeps; 0: the link does not allow it.
  std::vector<feature_offer> features; // The features of this end; the link uses those that both ends have.
  // With feature::handle_windows: how many bytes may lie behind the handles of messages that are not consumed here, on
  // the link and for one actor.
  std::uint64_t handle_window_bytes = 128_MiB;
  std::uint64_t actor_handle_window_bytes = 32_MiB;
  std::vector<std::byte> store_proof = {}; // 32 bytes: this process has opened the store. Empty if no store is shared.
  std::uint16_t minor = 0;                 // Of the protocol's version.
  std::string troupe = {};                 // The version of the library, at most 64 bytes.
  std::string role = {};                   // The role that the reader has for this end; empty: none.
};
TROUPE_DESCRIBE(hello, version, name, token, serializers, deserializers, message_bytes, window_bytes,
                actor_window_bytes, store_number, store_slot, store_nonce, channel, shares_store, tasks, verifies,
                spawner, exits, link, introduction_key, header_bytes, frames, incarnation, inspector, features,
                handle_window_bytes, actor_handle_window_bytes, store_proof, minor, troupe, role)

struct ready {
  bool shares_store = false;             // Both ends have checked.
  std::vector<std::byte> proof;          // Over the handshake with both hellos, if a secret is used.
  std::vector<std::byte> key_proof = {}; // Like `proof`, with the key that only the two nodes share.
};
TROUPE_DESCRIBE(ready, shares_store, proof, key_proof)

struct opened {
  std::vector<std::byte> proof;          // Over the handshake including the ready, if a secret is used.
  std::vector<std::byte> key_proof = {}; // As in ready.
};
TROUPE_DESCRIBE(opened, proof, key_proof)

struct refuse {
  std::uint8_t code = 0; // node_errc
  std::string reason;
};
TROUPE_DESCRIBE(refuse, code, reason)

struct goodbye {
  std::string reason;
};
TROUPE_DESCRIBE(goodbye, reason)

struct find_query {
  std::uint64_t query = 0; // Repeated in the answer.
  std::string name;
};
TROUPE_DESCRIBE(find_query, query, name)

struct found {
  std::uint64_t query = 0;
  std::uint64_t actor = 0;            // 0: nothing is published under this name.
  std::vector<std::string> interface; // Empty for untyped actors.
  bool readers = false;               // The actor's exporter is the end that asks.
  std::string refusal = {};           // Why the reader may not find this name, published or not; empty: it may.
};
TROUPE_DESCRIBE(found, query, actor, interface, readers, refusal)

struct name_changed {
  std::string name;
};
TROUPE_DESCRIBE(name_changed, name)

struct monitor {
  std::uint64_t actor = 0;
};
TROUPE_DESCRIBE(monitor, actor)

/// Tells the owner of an actor for which the writer forwards. By this, only the actor's own node can recognize the
/// actor.
struct introduce {
  std::uint64_t number = 0; // On this link.
  std::uint32_t hops = 0;   // Nodes between the reader and the actor.
  std::uint32_t process = 0;
  std::string host;             // With `process`: the actor's node.
  std::uint64_t link = 0;       // The name, at the actor's node, of the link on which it first exported the actor ...
  std::uint64_t actor = 0;      // ... under this number.
  std::vector<std::byte> proof; // 32 bytes: proof of that export.
};
TROUPE_DESCRIBE(introduce, number, hops, process, host, link, actor, proof)

struct withdraw {
  std::uint64_t number = 0;
};
TROUPE_DESCRIBE(withdraw, number)

struct down {
  std::uint64_t actor = 0;
  std::uint8_t reason_code = 0; // As in caf::error; 0 for a normal end.
  std::string reason_category;
  std::string reason_text;
};
TROUPE_DESCRIBE(down, actor, reason_code, reason_category, reason_text)

struct release_actor {
  std::uint64_t actor = 0;
  std::uint64_t count = 0;
};
TROUPE_DESCRIBE(release_actor, actor, count)

struct release_object {
  std::uint32_t index = 0;
  std::uint32_t generation = 0;
  std::uint64_t count = 0;
};
TROUPE_DESCRIBE(release_object, index, generation, count)

struct credit {
  std::uint64_t actor = 0;
  std::uint64_t bytes = 0;
  std::uint64_t handle_bytes = 0; // Against the windows for bytes behind handles.
};
TROUPE_DESCRIBE(credit, actor, bytes, handle_bytes)

struct type_refused {
  std::string alias;
  bool is_known = false;         // False: this registry has no type with that alias; the fields below are empty.
  std::uint32_t fingerprint = 0; // Of the type's layout here; 0: not stated.
  std::string contract;          // contract_of() the type here. Empty: not stated.
};
TROUPE_DESCRIBE(type_refused, alias, is_known, fingerprint, contract)

struct family_change {
  std::uint64_t number = 0; // From 1 in sending order, counting refused changes.
  std::vector<std::string> serializers;
  std::vector<std::string> deserializers;
};
TROUPE_DESCRIBE(family_change, number, serializers, deserializers)

struct reconfigured {
  std::uint64_t number = 0;
  std::string refusal; // Why nothing has changed; empty: the change is accepted.
};
TROUPE_DESCRIBE(reconfigured, number, refusal)

struct whereabouts {
  std::uint64_t node = 0; // handles::node_name; identifies the node together with `incarnation`.
  std::uint64_t incarnation = 0;
  std::vector<std::string> addresses; // At most 8, of at most 256 bytes each.
};
TROUPE_DESCRIBE(whereabouts, node, incarnation, addresses)

struct ring_offer {
  std::uint64_t ring_bytes = 0; // Of each ring.
};
TROUPE_DESCRIBE(ring_offer, ring_bytes)

struct ring_begin {
  std::uint64_t ring_bytes = 0; // As offered.
};
TROUPE_DESCRIBE(ring_begin, ring_bytes)

struct ring_decline {
  std::string reason;
};
TROUPE_DESCRIBE(ring_decline, reason)

struct ping {
  std::uint64_t reserved = 0;
};
TROUPE_DESCRIBE(ping, reserved)

/// Encodes and decodes an admin message with msgpack::encode_described and decode_described. admin.cpp instantiates
/// both functions for each message above. For a new message, add a line there.
template <class Admin>
[[nodiscard]] std::vector<std::byte> encode_admin(const Admin& what);
template <class Admin>
[[nodiscard]] std::expected<Admin, serialize_error> decode_admin(std::span<const std::byte> body,
                                                                 const limits& bounds = {});

} // namespace troupe::internal
