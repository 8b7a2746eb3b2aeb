// The options of a link, with their defaults and what other values cost.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/setting.hpp>
#include <troupe/serializers/compression.hpp>
#include <troupe/serializers/limits.hpp>

namespace troupe {

/// What happens to a message if the queue for the peer is full (queue_bytes, actor_queue_bytes).
enum class when_full : std::uint8_t {
  fail, ///< The message is not sent. A request gets the error `link_busy`; a plain message is counted and logged.
  /// The oldest message that waits for the same receiver is dropped; if none waits for that receiver, the receiver with
  /// the most waiting messages loses its oldest one. A dropped request gets the error `link_busy`.
  drop_oldest
};

/// How the thread that reads a link waits for its peer. If a thread reads several links with different modes, `poll`
/// overrides `adaptive`, and `adaptive` overrides `sleep`.
enum class wait_mode : std::uint8_t {
  sleep,    ///< Sleeps at once until it is woken: an idle link costs no processor time.
  adaptive, ///< Polls for up to 50 us before it sleeps, if `dispatch` is on and polling has recently found something.
  poll      ///< Never sleeps, so it uses a core all the time: the shortest round trips.
};

/// Certificates and keys, in PEM files. TLS 1.3 only.
struct tls_options {
  /// This end's certificate, followed by the certificates between it and the authority, and this end's key, without a
  /// passphrase. A listener needs both. A dialer needs both if the listener requires a certificate.
  std::string certificate_file = {};
  std::string key_file = {};

  /// The authorities whose certificates are accepted. Empty: a dialer uses the system's authorities.
  std::string authority_file = {};

  /// For listening: whether only peers with a certificate of `authority_file` are admitted.
  bool require_client_certificate = false;

  /// For dialing: the name or IP address that the peer's certificate must contain. Empty: the host of the address.
  std::string server_name = {};

  friend bool operator==(const tls_options&, const tls_options&) = default;
};

/// How the two ends of a TCP or TLS link authenticate each other. Unix sockets need no credentials: they admit only
/// processes of the same user.
struct credentials {
  /// A key of at least 16 bytes that both ends know. It must be random bytes, not a password, because any client that
  /// can connect to one end can try guesses. The key is proven, never sent. Over plain TCP only peers that know the key
  /// are admitted, but the key does not protect the data that follows. Use it on trusted networks only.
  std::string secret = {};

  /// A file with the secret, which no other user may read. Set at most one of `secret` and `secret_file`. The file is
  /// read again at each handshake. It may have two lines with a secret each: this end accepts both, so that the secret
  /// can change while nodes run (framework/guides/security.md). When this end dials, it proves the first one. If the
  /// peer does not know that one, this end dials again and proves the second one. Empty lines are ignored. If the file
  /// is wrong or missing, what was read last stays in force, and the log says so. A file that is not text is one
  /// secret.
  std::string secret_file = {};

  /// The file of the random secret that processes of one host (127.0.0.0/8 and ::1) use over plain TCP if no secret is
  /// set. If the file is missing, it is created. Empty: $XDG_RUNTIME_DIR/troupe/cookie, or else
  /// $HOME/.config/troupe/cookie.
  std::string cookie_file = {};

  tls_options tls = {};

  friend bool operator==(const credentials&, const credentials&) = default;
};

/// The default of link_options::allow_find. (A list in braces there makes g++ 12 fail in templates.)
[[nodiscard]] inline std::vector<std::string> every_name() {
  return std::vector<std::string>(1, "*");
}

/// Peers of one kind, and what they may do at this node. For node_options::accepted_links only.
///
/// A peer has the first role of the list whose conditions it meets: all of those that are set. A peer that meets those
/// of no role has no role, and gets the rights of link_options. A peer that proves a role's secret but does not meet
/// the role's other conditions is refused.
struct peer_role {
  /// 1 to 64 letters, digits, '-', '_' and '.'. The peer is told the name.
  std::string name = {};

  /// Condition: the peer proves a secret of this file. The rules of credentials::secret_file apply. No other role, and
  /// not `credentials`, may have the same secret. If `credentials` has no secret, only peers with a secret of a role
  /// are admitted over TCP and TLS.
  std::string secret_file = {};

  /// Condition: the peer connects over TLS, and one of these names is in its certificate. "worker-1.shop" is a DNS name
  /// of the subject alternative names, and "*.workers.shop" any such name with one more label. A text with "://" is one
  /// of their URIs, and one that ends with '*' any URI with that beginning. "CN=worker-1" and "OU=workers" are the
  /// common name and an organizational unit of the subject. Requires credentials.tls.authority_file.
  std::vector<std::string> certificate_names = {};

  /// Condition: the peer is a process of the same user. It connects over a unix socket or within the process, or has
  /// proven the secret of credentials::cookie_file.
  bool same_user = false;

  /// The rights, see link_options. A right that is not set here is that of link_options.
  setting<bool> allow_spawn = {};
  setting<bool> allow_tasks = {};
  setting<bool> allow_exit = {};
  setting<bool> allow_memory_summary = {};
  setting<bool> allow_report = {};
  setting<bool> allow_recording = {};
  setting<bool> allow_orders = {};
  setting<std::vector<std::string>> allow_find = {};

  friend bool operator==(const peer_role&, const peer_role&) = default;
};

/// Where the messages of links are recorded: on a tape (tape.hpp reads it; framework/guides/recording.md). Set `file`
/// or `directory`. If both are empty, nothing is recorded.
///
/// A tape has the messages of the program as they travelled, with all their contents. A reader of the file reads them.
/// A tape has no secrets of links. Its files are made for this user only. If both ends share a store, the tape has only
/// the sizes of frames and objects in it.
///
/// Recording never holds up a link and loses none of its messages. What the recorder cannot follow, or what the disk
/// has no room for, is missing on the tape, which says how much. All links of a node with the same place share one
/// tape.
struct recording_options {
  /// A file that does not exist yet. When it has `file_bytes`, recording stops.
  std::string file = {};

  /// A directory, which is made if it does not exist. Its files stand alone, and have names that contain the node's
  /// name and the time. When a file has `file_bytes`, the next one begins.
  std::string directory = {};

  /// The size of a file, at least 64 KiB. The definitions of many links, which each file repeats, may exceed it, and so
  /// may a single message.
  std::size_t file_bytes = 64_MiB;

  /// How many files a recording keeps in a directory. Beyond them, its oldest file is removed.
  std::size_t files_most = 16;

  /// The memory for messages that wait to be written; twice as much may be in use. At least 512 KiB. Higher: longer
  /// bursts are recorded whole.
  std::size_t queue_bytes = 8_MiB;

  /// Frames and objects in a store that both ends share are recorded with their bytes if they have at most this size,
  /// otherwise as sizes only. 0: none has its bytes on the tape. Higher: the tape grows by the bytes of each message
  /// that mentions them, and the objects stay in the store until they are written: at most `queue_bytes` of them, or a
  /// single larger one.
  std::size_t object_bytes_max = 0;

  /// How the tape is compressed. Higher compression may make the recorder too slow for a fast link.
  troupe::compression compression = troupe::compression::lz4;

  friend bool operator==(const recording_options&, const recording_options&) = default;
};

/// The policy of one end of a link. The handshake tells the peer what this end sends and accepts. If the program leaves
/// an option unset, it takes the value of the configuration (options.md), or else the default below. `credentials`,
/// `receive_limits`, `recording` and `roles` each count as one option, which is set if any of its members differs from
/// its default. "Higher", "Lower" and "On" say what happens if the option has such a value.
struct link_options {
  /// The families that encode what this end sends, in order of preference. Each value uses the first family that
  /// supports its type and that the peer accepts.
  setting<std::vector<std::string>> serializers{by_default, {"typed", "msgpack"}};

  /// The families that this end accepts. Empty: the same as `serializers`. A payload of any other family ends the link.
  setting<std::vector<std::string>> deserializers = {};

  /// If both ends share a store, frames of at least this size go into the store and travel as handles. Lower: fewer
  /// bytes are copied through the socket; each handle takes about as long as two messages.
  setting<std::size_t> spill_bytes{by_default, 64_KiB};

  /// If the values of a message take at least this much memory, another thread of the actor system encodes the message,
  /// and the sender continues at once. Later messages to the same receiver wait behind it. 0: no message is offloaded.
  /// Never offloaded are values that contain handles or pointers, values whose codec depends on the context, and
  /// messages from threads that run no actors. The window and the queue together bound the messages that wait to be
  /// encoded; `when_full` applies to messages beyond that. Lower: handlers that send take less time; each offloaded
  /// message takes some ten microseconds more.
  setting<std::size_t> offload_bytes{by_default, 4_MiB};

  /// Whether this end compresses frames of 10,000 bytes and more. A frame travels compressed if first samples of it and
  /// then the whole frame shrink to 0.7 of their size or less. Frames are never compressed between ends that share a
  /// store, nor within a process. Compressed input is accepted regardless of this option; to refuse it, set
  /// `receive_limits.decompressed_bytes` to 0.
  /// Compression pays off if the network is slower than the compressor; bench/README.md has figures. `message_bytes`
  /// bounds the compressed size, as it goes through the socket. Windows and queues count the decompressed size as well.
  /// Over TLS, the size of compressed data reveals something about its content.
  setting<troupe::compression> compression{by_default, compression::none};

  /// Whether the two lists above may name families that trust their input, such as "cereal". Off: naming such a family
  /// is an error. Turn it on only for peers that you would also allow to run code in this process. The option adds no
  /// family to the lists: add the family to the program's family_set, and name it in the lists of both ends.
  setting<bool> trusted_families = {};

  /// Whether values may contain cycles of shared pointers. Off: sending or receiving such a value is an error, because
  /// its objects keep each other alive after their message is consumed. Both ends must allow cycles. Sharing without
  /// cycles, and weak pointers back, are always permitted.
  setting<bool> allow_cycles = {};

  /// How much memory the values with cycles that came over this link may take at a time. A value counts until the
  /// program has cut all its cycles. Values beyond the bound are refused. Higher: a peer can make this process keep as
  /// much memory for ever.
  setting<std::size_t> cycle_bytes{by_default, 64_MiB};

  /// Whether the peer shares the store, if both ends have opened the same one. nullopt: only over unix sockets and
  /// within a process. A peer that shares a store can map all of it. If both ends have opened the same store,
  /// object_refs are found there regardless of this option.
  setting<std::optional<bool>> share_store = {};

  /// Whether the link's bytes go through rings in shared memory instead of its unix socket. Both ends must want rings.
  /// nullopt: this end wants rings if the store is shared, or if the address begins with "shm://". No effect over other
  /// transports. While both ends are busy, rings need no system call. The peer can write into a ring at any time, so
  /// its bytes are checked like those of a socket.
  setting<std::optional<bool>> use_rings = {};

  /// The size of the ring for each direction, a power of two between 4 KiB and 16 MiB. A link with rings takes twice
  /// this memory from its start. An end declines rings that are larger than its own setting; the link then stays on its
  /// socket. Higher: a sender can continue for longer while the peer is busy.
  setting<std::size_t> ring_bytes{by_default, 256_KiB};

  /// Whether the baggage of trace contexts goes over this link (trace_context::baggage). Off: it stays in this process,
  /// because programs put the names of customers and the like into it. `traceparent` and `tracestate` go over every
  /// link whose two ends have the feature `traces`.
  setting<bool> send_baggage = {};

  /// How the thread that reads this link waits for the peer.
  setting<wait_mode> wait{by_default, wait_mode::adaptive};

  /// What the peer of this link may request, in addition to sending messages to the actors whose handles it was given.
  setting<bool> allow_spawn = {}; ///< Spawn actors of registered types in this process: link::spawn.
  setting<bool> allow_tasks = {}; ///< Run registered functions in this process: link::submit.
  /// End actors of this process by exit messages. The peer sends such a message by send_exit, or if one of its actors
  /// has ended that is linked to an actor of this process. Without this permission, actor links still work in the other
  /// direction: if an actor of this process ends, the peer's linked actor gets the exit message.
  setting<bool> allow_exit = {};
  setting<bool> allow_memory_summary = {}; ///< Ask which objects this node keeps alive, and why: link::memory_summary.
  setting<bool> allow_report = {};         ///< Ask for this node's links, counters and types: link::report.
  /// Record all links of this node, with the payloads of all messages: record_peer (remote_recording.hpp). Give it only
  /// to peers that may read everything that this node sends and receives.
  setting<bool> allow_recording = {};
  /// Give orders to this node: link::order. The peer can then close and reconfigure all links of this node, and unpin
  /// objects.
  setting<bool> allow_orders = {};
  /// Find published actors of these names: link::find. A text that ends with '*' stands for all names with that
  /// beginning. Other names fail with `not_allowed`, whether or not they are published. Handles that come in messages
  /// are not affected. Members of a cluster also need names of Troupe's own: `troupe.singleton.NAME`,
  /// `troupe.entities.KIND`, `troupe.load` and `troupe.cluster` (framework/guides/clusters.md), or "troupe.*" for all.
  setting<std::vector<std::string>> allow_find{by_default, every_name()};

  /// What peers of some kinds may do instead. At most 16. Only for node_options::accepted_links: other links have one
  /// peer, which this end has chosen.
  std::vector<peer_role> roles = {};

  /// Whether this node may dial nodes that the peer of this link names. It then reaches directly the actors and objects
  /// of those nodes, which the peer only forwards. Handles that came through the peer then survive the peer's death.
  /// Such links use this link's options and credentials, without the permissions above. Bounds:
  /// framework/handle-protocol.md.
  setting<bool> dial_introduced{by_default, true};

  /// The identity of the peer's node (node::identity), which it has to prove in the handshake. For an address that
  /// others have told, such as a directory: a link to any other node fails with `another_peer`. Empty: any node.
  setting<std::string> peer_identity = {};

  /// How the ends authenticate over TCP and TLS.
  struct credentials credentials = {};

  /// The timeout for connecting, from dialing to the end of the handshake. It also applies to peers that connect to
  /// this node. Higher: slow networks get through; a peer that connects and stays silent is kept for longer.
  setting<std::chrono::milliseconds> connect_timeout{by_default, std::chrono::seconds(5)};

  /// The largest message that this end accepts through the socket. The peer is told this limit, and sending a larger
  /// message there fails with `unserializable`. Frames that travel as handles do not count. Higher: larger messages
  /// pass; a hostile peer can make this node hold as much memory.
  setting<std::size_t> message_bytes{by_default, 1_GiB};

  /// The window: how many bytes of messages from the peer may be received here and not yet consumed. A message counts
  /// until its last reference is gone, which is when its handler has returned. Each message counts 128 bytes in
  /// addition to its content. One message may exceed the window. For each direction, the smaller value of the two ends
  /// applies. Higher: more throughput over long distances, but a slow node may hold this much memory, and three times
  /// as much if the peer understates the memory of its values. Messages of a few bytes take more memory than they
  /// count: 1.5 times the window, three times for requests, five times if every message has a different sender.
  setting<std::size_t> window_bytes{by_default, 32_MiB};

  /// The window for one receiving actor, so that a slow actor leaves room for the others. The smaller value of the two
  /// ends applies.
  setting<std::size_t> actor_window_bytes{by_default, 8_MiB};

  /// The window for the bytes behind the handles in unconsumed messages: frames in the shared store, and the objects of
  /// object_refs. Each object counts once, however often it is sent. The window bounds what one slow actor can make
  /// this process decode or the store keep. One message may exceed it. Messages without handles do not count. An object
  /// that an actor keeps after its handler has returned no longer counts; only the store's capacity bounds such
  /// objects. The smaller value of the two ends applies. Higher: more large values are in flight, but a slow node
  /// may hold this many bytes in memory or in the store.
  setting<std::size_t> handle_window_bytes{by_default, 128_MiB};

  /// The handle window for one receiving actor. An object that is sent to several actors counts for each of them, but
  /// only once in `handle_window_bytes`.
  setting<std::size_t> actor_handle_window_bytes{by_default, 32_MiB};

  /// How many bytes of messages may wait on this end until the peer has consumed enough: `queue_bytes` in all,
  /// `actor_queue_bytes` for one receiver. A message counts as at least 640 bytes. If half of a bound is free, one
  /// message may exceed the bound. The bytes behind the handles of waiting messages are bounded by a quarter of the
  /// handle windows above. Higher: longer bursts pass instead of being refused; waiting messages take more memory and
  /// are older when they are sent.
  setting<std::size_t> queue_bytes{by_default, 8_MiB};
  setting<std::size_t> actor_queue_bytes{by_default, 2_MiB};

  /// What happens to a message that finds no room to wait. Answers, down messages and the link's own messages never
  /// wait: each request reserves room for its answer.
  setting<troupe::when_full> when_full{by_default, when_full::fail};

  /// How many bytes, in addition to the window, a peer may leave unread. Above this bound, the error `link_busy`
  /// replaces the next answer. Above twice this bound, the link ends. One answer may exceed the bound. Higher: more
  /// large answers at a time over slow networks, but a peer that asks and does not read makes this node hold as much
  /// memory.
  setting<std::size_t> unread_answer_bytes{by_default, 256_MiB};

  /// How long a thread that runs no actors, such as that of main with a scoped_actor, waits for room before `when_full`
  /// applies. 0: it does not wait.
  setting<std::chrono::milliseconds> block_timeout{by_default, std::chrono::seconds(10)};

  /// If a peer is silent for this long, this end asks it whether it is alive.
  setting<std::chrono::milliseconds> heartbeat_interval{by_default, std::chrono::seconds(5)};

  /// If a peer is silent, or takes no bytes, for this long, the link ends. Lower: a frozen peer is found sooner; the
  /// link to a busy peer may end by mistake.
  setting<std::chrono::milliseconds> heartbeat_timeout{by_default, std::chrono::seconds(20)};

  /// Limits on decoding one value.
  limits receive_limits = {};

  /// Whether messages within a process are encoded and decoded instead of being handed over, so that they fail for the
  /// same reasons as on a socket. For tests. It applies to both directions if either end sets it. On: each message
  /// costs about as much as over a unix socket.
  setting<bool> verify_serialization = {};

  /// Where this end records the link's messages, in both directions. Links to nodes that the peer names
  /// (dial_introduced) are recorded as well.
  recording_options recording = {};

  friend bool operator==(const link_options&, const link_options&) = default;
};

/// Changes to the options of a live link, for `link::reconfigure`. nullopt leaves an option unchanged. All other
/// options cannot change on a live link. Both ends agree on credentials, store, windows and `message_bytes` in the
/// handshake, and rely on the agreed values. Limits and permissions are promises to the peer. To change them, connect
/// again.
struct link_changes {
  /// Naming a family that trusts its input requires the link's `trusted_families`, which cannot change.
  std::optional<std::vector<std::string>> serializers = std::nullopt;
  /// An empty list means the same as the serializers. If only `serializers` is given, the accepted families do not
  /// change.
  std::optional<std::vector<std::string>> deserializers = std::nullopt;
  std::optional<troupe::compression> compression = std::nullopt;
  std::optional<std::size_t> spill_bytes = std::nullopt;
  std::optional<std::size_t> offload_bytes = std::nullopt;
};

} // namespace troupe
