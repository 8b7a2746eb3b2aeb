// The admin messages of a link: always msgpack, as small self-describing maps. A reader skips fields that it does not
// know and gives missing ones their default, so fields may be added; operations are numbered by hand: append only. From
// first_skippable_number (packet.hpp) on a reader skips operations that it does not know.
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
  hello = 1,           // Each end, once the peer is let in: its name, what it sends and accepts.
  ready = 2,           // Dialer: the acceptor's hello is accepted.
  refuse = 3,          // Either end instead of going on; the link closes.
  goodbye = 4,         // Either end: nothing more will come; the link closes.
  find = 5,            // Look up a published actor.
  found = 6,           // Answers find.
  monitor = 7,         // Tell me when this actor of yours ends.
  down = 8,            // An actor of mine that you monitor has ended.
  release_actor = 9,   // I have dropped an actor of yours that I received this often.
  release_object = 10, // I have dropped an object of yours that I received this often.
  credit = 11,         // An actor of mine has consumed this much of what you sent it.
  ping = 12,           // Are you alive?
  pong = 13,           // Answers ping.
  greet = 14,          // Each end, first: which node it is, and how the two shall prove themselves.
  prove = 15,          // Each end, where a secret is asked for: that it knows it.
  opened = 16,         // Acceptor: the ready is accepted; the link is open.
  type_refused = 17,   // I cannot read this type of yours; do not send it.
  reconfigure = 18,    // What I send with and accept from now on.
  reconfigured = 19,   // Answers reconfigure, behind the last message by the older lists.
  demonitor = 20,      // I no longer want to be told when this actor of yours ends.
  introduce = 21,      // An actor that I forward for: whose it is. Before it is first mentioned.
  withdraw = 22,       // You have dropped it; its number is not used again.
  // Handles of objects, see handle-protocol.md. What brings bytes is a packet of its own.
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
  // From here on whoever does not know an operation skips it.
  whereabouts = 128, // Where this node listens, or one whose handles come next: with the feature "whereabouts".
  // With the feature "rings", over unix sockets:
  ring_offer = 129,  // Dialer: here is memory for two rings. A descriptor goes with the packet.
  ring_begin = 130,  // Acceptor, then dialer: what comes next stands in my ring.
  ring_decline = 131 // Acceptor, instead.
};

/// The last of those that have to be understood.
inline constexpr admin_op last_admin_op = admin_op::handle_lost;

/// How the ends of a link prove themselves. Numbered by hand: append only.
enum class greet_method : std::uint8_t {
  none = 0,  // The transport has seen to it: the same user's process, or certificates.
  secret = 1 // Both show that they know the shared secret.
};

/// All that a peer learns before it has proven itself.
struct greet {
  std::uint32_t process = 0;    // With `host`: the node id.
  std::string host;             // 40 hexadecimal digits.
  std::vector<std::byte> nonce; // 32 bytes, fresh for each link.
  std::uint8_t method = 0;      // greet_method
  // loopback_ends::sum, where the connection stays within its host: what this end sees of it.
  std::vector<std::byte> connection = {};
};
TROUPE_DESCRIBE(greet, process, host, nonce, method, connection)

struct prove {
  std::vector<std::byte> proof; // 32 bytes: HMAC-SHA256 by the secret over the handshake so far.
};
TROUPE_DESCRIBE(prove, proof)

struct hello {
  std::uint16_t version = 0;
  std::string name;
  std::vector<std::byte> token; // 32 bytes, the same on all links of a node: the public part of its key.
  std::vector<std::string> serializers;
  std::vector<std::string> deserializers;
  std::uint64_t message_bytes = 0; // The largest message that this end takes.
  // How much this end lets the peer have on its way and unconsumed: on the link, and for one actor.
  std::uint64_t window_bytes = 32_MiB;
  std::uint64_t actor_window_bytes = 8_MiB;
  // The store to share: the process's place in it and the nonce that stands there, which store_proof is for. Zero
  // nonce: none.
  std::uint64_t store_number = 0;
  std::uint32_t store_slot = 0;
  std::uint64_t store_nonce = 0;
  std::uint64_t channel = 0; // Chosen by the dialer: names the link inside the store.
  bool shares_store = false; // Set by the acceptor, who has checked the dialer's nonce.
  std::uint64_t tasks = 0;   // The actor that runs what the peer submits; 0: the link does not allow it.
  bool verifies = false;     // Within a process: everything is to be encoded nevertheless.
  std::uint64_t spawner = 0; // The actor that spawns what the peer asks for; 0: the link does not allow it.
  bool exits = false;        // Exit messages may come.
  // How the peer says of actors that it got on this link, to third nodes, whose they are.
  std::uint64_t link = 0;
  std::vector<std::byte> introduction_key; // 32 bytes
  // The largest header, and the most frames of one element, that this end reads.
  std::uint64_t header_bytes = limits{}.header_bytes;
  std::uint64_t frames = limits{}.frames;
  std::uint64_t incarnation = 0;       // Of the node, which counts handles; 0: objects travel with their bytes.
  std::uint64_t inspector = 0;         // The actor that says what the node keeps; 0: the link does not allow it.
  std::vector<feature_offer> features; // What this end can do; the link uses what both can.
  // With feature::handle_windows: how much may lie behind handles that are on their way or not consumed, like the
  // windows above.
  std::uint64_t handle_window_bytes = 128_MiB;
  std::uint64_t actor_handle_window_bytes = 32_MiB;
  std::vector<std::byte> store_proof = {}; // 32 bytes: this process has opened the store. Empty where none is shared.
};
TROUPE_DESCRIBE(hello, version, name, token, serializers, deserializers, message_bytes, window_bytes,
                actor_window_bytes, store_number, store_slot, store_nonce, channel, shares_store, tasks, verifies,
                spawner, exits, link, introduction_key, header_bytes, frames, incarnation, inspector, features,
                handle_window_bytes, actor_handle_window_bytes, store_proof)

struct ready {
  bool shares_store = false;             // Both have checked.
  std::vector<std::byte> proof;          // Over the handshake with both hellos, where a secret is used.
  std::vector<std::byte> key_proof = {}; // The same by the key that only the two nodes have in common.
};
TROUPE_DESCRIBE(ready, shares_store, proof, key_proof)

struct opened {
  std::vector<std::byte> proof;          // Over the handshake with the ready in it, where a secret is used.
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
  std::uint64_t query = 0; // The answer repeats it.
  std::string name;
};
TROUPE_DESCRIBE(find_query, query, name)

struct found {
  std::uint64_t query = 0;
  std::uint64_t actor = 0;            // 0: nothing is published under this name.
  std::vector<std::string> interface; // Empty for untyped actors.
  bool readers = false;               // Who asks has exported it.
};
TROUPE_DESCRIBE(found, query, actor, interface, readers)

struct monitor {
  std::uint64_t actor = 0;
};
TROUPE_DESCRIBE(monitor, actor)

/// Whose an actor is that the writer forwards for; its own node knows it again by this, nobody else does.
struct introduce {
  std::uint64_t number = 0; // On this link.
  std::uint32_t hops = 0;   // Nodes between the reader and the actor.
  std::uint32_t process = 0;
  std::string host;             // With `process`: the actor's node.
  std::uint64_t link = 0;       // That node's name for the link on which it gave the actor away first ...
  std::uint64_t actor = 0;      // ... under this number.
  std::vector<std::byte> proof; // 32 bytes: that it did.
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
  std::uint64_t handle_bytes = 0; // Of the windows for what lies behind handles.
};
TROUPE_DESCRIBE(credit, actor, bytes, handle_bytes)

struct type_refused {
  std::string alias;
  bool is_known = false;         // False: the registry here has no type of that alias; what follows is empty.
  std::uint32_t fingerprint = 0; // Of the layout of the type here; 0: not said.
  std::string contract;          // How it looks here: contract_of() the type. Empty: not said.
};
TROUPE_DESCRIBE(type_refused, alias, is_known, fingerprint, contract)

struct family_change {
  std::uint64_t number = 0; // From 1 in the order of sending, those that were refused included.
  std::vector<std::string> serializers;
  std::vector<std::string> deserializers;
};
TROUPE_DESCRIBE(family_change, number, serializers, deserializers)

struct reconfigured {
  std::uint64_t number = 0;
  std::string refusal; // Why nothing has changed; empty: it has.
};
TROUPE_DESCRIBE(reconfigured, number, refusal)

struct whereabouts {
  std::uint64_t node = 0; // handles::node_name, with the next.
  std::uint64_t incarnation = 0;
  std::vector<std::string> addresses; // 8 at most, of at most 256 bytes each.
};
TROUPE_DESCRIBE(whereabouts, node, incarnation, addresses)

struct ring_offer {
  std::uint64_t ring_bytes = 0; // Of each of the two.
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

/// An admin message as its bytes and back, as msgpack::encode_described and decode_described have it. admin.cpp
/// instantiates both for the messages above: a new one has a line there.
template <class Admin>
[[nodiscard]] std::vector<std::byte> encode_admin(const Admin& what);
template <class Admin>
[[nodiscard]] std::expected<Admin, serialize_error> decode_admin(std::span<const std::byte> body,
                                                                 const limits& bounds = {});

} // namespace troupe::internal
