// The options of a link, with defaults and the cost of raising or lowering each.
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

/// What happens to a message if the queue of messages that wait for the peer is full (queue_bytes, actor_queue_bytes).
enum class when_full : std::uint8_t {
  fail,       ///< The message is not sent: a request gets the error `link_busy`, a plain message is counted and logged.
  drop_oldest ///< Drops the oldest message that waits for the same receiver, or else for the receiver for which most
              ///< waits; a dropped request gets the error.
};

/// How the thread that reads a link waits for its peer. If a node's thread reads several links, the most eager of their
/// modes applies.
enum class wait_mode : std::uint8_t {
  sleep,    ///< Sleeps at once until it is woken: an idle link costs no processor time.
  adaptive, ///< Looks for up to 50 us before it sleeps, if `dispatch` is on and looking has found something of late.
  poll      ///< Never sleeps, so it uses a core all the time: the shortest round trips.
};

/// Certificates and keys, in PEM files. TLS 1.3 only.
struct tls_options {
  /// This end's certificate, followed by the certificates between it and the authority; and its key, without a
  /// passphrase. A listener needs both. A dialer needs both if the listener asks for a certificate.
  std::string certificate_file = {};
  std::string key_file = {};

  /// The authorities whose certificates are accepted. If a dialer leaves this empty, it uses the system's authorities.
  std::string authority_file = {};

  /// For listening: admit only peers with a certificate of `authority_file`.
  bool require_client_certificate = false;

  /// For dialing: the name or IP address that the peer's certificate must contain. Empty: the host of the address.
  std::string server_name = {};

  friend bool operator==(const tls_options&, const tls_options&) = default;
};

/// How the two ends of a TCP or TLS link authenticate each other. Unix sockets need no credentials: they admit only
/// processes of the same user.
struct credentials {
  /// A key of at least 16 bytes that both ends know. It must be random bytes, not a password: anybody who can connect
  /// to one end can try guesses. The key is proven, never sent. Over plain TCP it admits only peers that know it, but
  /// does not protect the data that follows: for trusted networks only.
  std::string secret = {};

  /// A file with the secret, which no other user may read. Newlines at the end of the file do not belong to the secret.
  /// Set at most one of `secret` and `secret_file`.
  std::string secret_file = {};

  /// The file of the random secret that is used over plain TCP between processes of one host (127.0.0.0/8 and ::1) if
  /// no secret is set. The file is created if it is missing. Empty: $XDG_RUNTIME_DIR/troupe/cookie, or else
  /// $HOME/.config/troupe/cookie.
  std::string cookie_file = {};

  tls_options tls = {};

  friend bool operator==(const credentials&, const credentials&) = default;
};

/// The policy of one link. Each end has its own and states in the handshake what it sends and accepts. An option that
/// the program leaves unset takes the value of the configuration, if there is one (options.md), or else the default
/// below. `credentials` and `receive_limits` count as set, as a whole, if any of their members differs from its
/// default.
struct link_options {
  /// Families that encode what this end sends, in order of preference. Each value uses the first family that supports
  /// its type and that the peer accepts.
  setting<std::vector<std::string>> serializers{by_default, {"typed", "msgpack"}};

  /// Families that this end accepts; empty: the same as `serializers`. A payload of any other family ends the link.
  setting<std::vector<std::string>> deserializers = {};

  /// If both ends share a store, frames of at least this size go into it and travel as handles. Lower: less is copied
  /// through the socket, but each handle costs about two messages' time.
  setting<std::size_t> spill_bytes{by_default, 64_KiB};

  /// A message whose values take at least this much memory is encoded by another thread of the actor system, so that
  /// its sender continues at once; later messages to the same receiver wait behind it. 0: none. Not offloaded: values
  /// that contain handles or pointers, values whose codec depends on the context, and messages from threads that run no
  /// actors. Window and queue together bound the messages that wait to be encoded; a message beyond that is treated as
  /// `when_full` says.
  /// Lower: less time in senders' handlers; each offloaded message takes some ten microseconds more.
  setting<std::size_t> offload_bytes{by_default, 4_MiB};

  /// Whether this end compresses frames of 10,000 bytes and more, if first samples and then the whole frame shrink to
  /// 0.7 of their size or less. Frames are never compressed between ends that share a store, nor within a process.
  /// Compressed input is accepted regardless of this setting; to refuse it, set `receive_limits.decompressed_bytes` to
  /// 0.
  /// Worth it if the network is slower than the compressor: bench/README.md has figures. `message_bytes` bounds the
  /// compressed size, as it goes through the socket; windows and queues count the decompressed size as well. Over TLS,
  /// the size of compressed data reveals something about its content.
  setting<troupe::compression> compression{by_default, compression::none};

  /// Whether the lists above may name families that trust their input, such as "cereal"; otherwise naming one is an
  /// error. Only for peers that you would also allow to run code in this process. The option adds no family to the
  /// lists: a program has to add the family to its set first, and links to peers that know only "msgpack" would fail.
  setting<bool> trusted_families = {};

  /// Whether values may contain cycles of shared pointers; otherwise sending or receiving one is an error, because such
  /// objects keep each other alive after their message is consumed. Both ends must allow it. Sharing without cycles and
  /// weak pointers back are always permitted.
  setting<bool> allow_cycles = {};

  /// How much memory the values with cycles that came over this link may take at once. A value counts until the program
  /// has cut all its cycles; values beyond the bound are refused. Higher: a peer can make this process keep as much for
  /// ever.
  setting<std::size_t> cycle_bytes{by_default, 64_MiB};

  /// Whether the peer shares the store, if both ends have opened the same one; nullopt: only over unix sockets and
  /// within a process. A peer that shares a store can map all of it. The object of an object_ref is found in a store
  /// that both ends have open, regardless of this setting.
  setting<std::optional<bool>> share_store = {};

  /// Whether the link's bytes go through rings in shared memory instead of its unix socket, if both ends want that:
  /// while both ends are busy, rings need no system call. nullopt: if the store is shared, or if the address says
  /// "shm://". No effect over other transports. The peer can write into the ring at any time, so the bytes are checked
  /// like those of a socket.
  setting<std::optional<bool>> use_rings = {};

  /// The size of the ring of each direction: a power of two between 4 KiB and 16 MiB. A link with rings takes twice
  /// this memory from its start. An end declines rings larger than its own setting; the link then stays on its socket.
  /// Higher: a sender can continue for longer while the peer is busy.
  setting<std::size_t> ring_bytes{by_default, 256_KiB};

  /// How the thread that reads this link waits for the peer.
  setting<wait_mode> wait{by_default, wait_mode::adaptive};

  /// Requests that the peer of this link may make, beyond sending messages to the actors whose handles it was given.
  setting<bool> allow_spawn = {}; ///< Spawn actors of registered types in this process: link::spawn.
  setting<bool> allow_tasks = {}; ///< Run registered functions in this process: link::submit.
  /// End this process's actors by exit messages: by send_exit, or because an actor of the peer that is linked to an
  /// actor of this process has ended. Without this permission an actor link still works in the other direction: the
  /// peer's actor ends with this process's.
  setting<bool> allow_exit = {};
  setting<bool> allow_memory_summary = {}; ///< Ask what this node keeps alive, and why: link::memory_summary.
  setting<bool> allow_report = {};         ///< Ask for this node's links, figures and types: link::report.

  /// Whether this node may dial nodes that the peer of this link names, to reach directly the actors and objects that
  /// the peer only passes on. Such links use this link's options and credentials, without the permissions above.
  /// Handles that came through the peer then survive its death. Bounds: framework/handle-protocol.md.
  setting<bool> dial_introduced{by_default, true};

  /// How the ends authenticate over TCP and TLS.
  struct credentials credentials = {};

  /// The timeout for connecting, from dialing to the end of the handshake; also applies to peers that connect to this
  /// node. Longer: slow networks get through; a peer that connects and stays silent is kept for longer.
  setting<std::chrono::milliseconds> connect_timeout{by_default, std::chrono::seconds(5)};

  /// The largest message that this end accepts through the socket; the peer is told the limit; sending a larger message
  /// there fails with `unserializable`. Frames that travel as handles do not count. Higher: larger messages pass; a
  /// hostile peer can make this node hold as much.
  setting<std::size_t> message_bytes{by_default, 1_GiB};

  /// The window: how many bytes of messages from the peer may be received here and not yet consumed. A message counts
  /// until its last reference is gone, which is when its handler has returned; each message counts 128 bytes besides
  /// its content. One message may exceed the window. Each direction is bounded by the lesser of both ends' values.
  /// Higher: faster over long distances; a slow node holds as much, and twice as much again for a peer that understates
  /// the memory of its values. For messages of a few bytes a node holds more: 1.5 times the window, three times for
  /// requests, five times if every message has a different sender.
  setting<std::size_t> window_bytes{by_default, 32_MiB};

  /// The window for one receiving actor, so that a slow actor leaves room for the others. The lesser of both ends'
  /// values counts.
  setting<std::size_t> actor_window_bytes{by_default, 8_MiB};

  /// The same window for the bytes to which the handles in unconsumed messages refer: frames in the shared store, and
  /// the objects of object_refs, each counted once however often it is sent. This bounds what one slow actor can make
  /// this process decode or the store keep. One message may exceed it; messages without handles do not count. Objects
  /// that an actor keeps after its handler has returned no longer count: only the store's capacity bounds them. Higher:
  /// more large values in flight; a slow node holds as much. The lesser of both ends' values counts.
  setting<std::size_t> handle_window_bytes{by_default, 128_MiB};

  /// The handle window for one receiving actor. An object sent to several actors counts for each of them, but only once
  /// in `handle_window_bytes`.
  setting<std::size_t> actor_handle_window_bytes{by_default, 32_MiB};

  /// How many bytes of messages may wait on this end until the peer has consumed enough: `queue_bytes` in all,
  /// `actor_queue_bytes` for one receiver. The bytes behind the handles of waiting messages are bounded by a quarter of
  /// the handle windows above. A message counts as at least 640 bytes. If half of a bound is free, one message may
  /// exceed the bound. Higher: longer bursts pass instead of being refused; more memory, and older messages.
  setting<std::size_t> queue_bytes{by_default, 8_MiB};
  setting<std::size_t> actor_queue_bytes{by_default, 2_MiB};

  /// What happens to a message that finds no room to wait. Answers, down messages and the link's own messages do not
  /// wait: each request reserves room for its answer.
  setting<troupe::when_full> when_full{by_default, when_full::fail};

  /// How many written bytes, beyond the window, a peer may leave unread before the next answer is replaced by the error
  /// `link_busy`. If it leaves twice as many unread, again beyond the window, the link ends. One answer may exceed the
  /// bound. Higher: more large answers at once over slow networks; a peer that asks and does not read makes this node
  /// hold as much.
  setting<std::size_t> unread_answer_bytes{by_default, 256_MiB};

  /// How long a thread that runs no actors (main, a scoped_actor's) waits for room before `when_full` applies. 0: not
  /// at all.
  setting<std::chrono::milliseconds> block_timeout{by_default, std::chrono::seconds(10)};

  /// A peer that is silent for this long is asked whether it is alive.
  setting<std::chrono::milliseconds> heartbeat_interval{by_default, std::chrono::seconds(5)};

  /// A peer that is silent, or takes no bytes, for this long is given up. Lower: a frozen peer is found sooner; a busy
  /// peer may be given up by mistake.
  setting<std::chrono::milliseconds> heartbeat_timeout{by_default, std::chrono::seconds(20)};

  /// Limits on decoding one value.
  limits receive_limits = {};

  /// Whether messages within a process are encoded and decoded instead of being handed over, in both directions, so
  /// that they fail for the same reasons as on a socket. For tests. It applies if either end sets it. On: each message
  /// costs about as much as over a unix socket.
  setting<bool> verify_serialization = {};
};

/// Changes to the options of a live link, for `link::reconfigure`; nullopt leaves an option unchanged. The other
/// options cannot change on a live link: both ends agree on credentials, store, windows and `message_bytes` in the
/// handshake and rely on the agreed values; limits and permissions are promises to the peer. To change those, connect
/// again.
struct link_changes {
  /// A family that trusts its input requires the link's `trusted_families`, which cannot change.
  std::optional<std::vector<std::string>> serializers = std::nullopt;
  /// An empty list: the same as the serializers. If only `serializers` is given, the accepted families do not change.
  std::optional<std::vector<std::string>> deserializers = std::nullopt;
  std::optional<troupe::compression> compression = std::nullopt;
  std::optional<std::size_t> spill_bytes = std::nullopt;
  std::optional<std::size_t> offload_bytes = std::nullopt;
};

} // namespace troupe
