// What a link can be told, with defaults and what raising or lowering each costs.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <troupe/base/sizes.hpp>
#include <troupe/serializers/compression.hpp>
#include <troupe/serializers/limits.hpp>

namespace troupe {

/// What becomes of a message when there is no more room for it to wait in.
enum class when_full : std::uint8_t {
  fail,       ///< It is not sent: a request gets the error `link_busy`, a plain message is counted and logged.
  drop_oldest ///< The oldest of those that wait for the same receiver goes; where it was a request, it gets the error.
};

/// How the thread that reads a link waits for its peer. A node's thread reads several links: it waits as the most eager
/// of them wants.
enum class wait_mode : std::uint8_t {
  sleep,    ///< It sleeps at once, and is woken: nothing is spent while nothing comes.
  adaptive, ///< Before it sleeps it looks for up to 50 us, if that has found something of late and `dispatch` is on.
  poll      ///< It never sleeps, and so spends a core: the shortest round trips.
};

/// Certificates and keys, in PEM files. TLS 1.3 only.
struct tls_options {
  /// This end's certificate, followed by those between it and the authority, and its key, without a passphrase.
  /// Listening needs both; dialing where the listener asks for a certificate.
  std::string certificate_file = {};
  std::string key_file = {};

  /// The authorities whose certificates are accepted. Dialing with none of its own uses the system's.
  std::string authority_file = {};

  /// Listening: only peers with a certificate of `authority_file` get in.
  bool require_client_certificate = false;

  /// Dialing: the name or IP address that the peer's certificate must hold; empty: the host of the address.
  std::string server_name = {};
};

/// By what the two ends of a TCP or TLS link know each other. Unix sockets need nothing: only processes of the same
/// user get in.
struct credentials {
  /// A key that both ends know, of at least 16 bytes: random bytes, no password, since who talks to one end can try
  /// guesses at leisure. It is proven, never sent. Over plain TCP it lets only those in who know it, but does not
  /// protect what is then said: for trusted networks only.
  std::string secret = {};

  /// The same, read from a file that no other user may read: all of it but line ends at its end. At most one of the
  /// two.
  std::string secret_file = {};

  /// Over plain TCP between processes of one host (127.0.0.0/8 and ::1) and without a secret, a random secret is used
  /// that lies in this file, and is made where it is missing. Empty: $XDG_RUNTIME_DIR/troupe/cookie, or else
  /// $HOME/.config/troupe/cookie.
  std::string cookie_file = {};

  tls_options tls = {};
};

/// The policy of one link. Both ends have one; each states in the handshake what it sends and accepts.
struct link_options {
  /// Families that encode what this end sends, in order of preference: the first one that supports a value's type and
  /// that the peer accepts is used.
  std::vector<std::string> serializers = {"typed", "msgpack"};

  /// Families that this end accepts; empty: the same as `serializers`. A payload of any other family ends the link.
  std::vector<std::string> deserializers = {};

  /// Frames of this size and more go into the shared store and travel as handles, where both ends share one.
  /// Lower: less is copied through the socket, but each handle costs about two messages' time.
  std::size_t spill_bytes = 64_KiB;

  /// Messages of actors whose values take so much and more are encoded by another thread of the actor system, so that
  /// their sender goes on at once; later messages to the same receiver wait behind them. 0: none. What takes part in
  /// neither: values with handles, pointers or context-dependent codecs in them, and messages from threads of your own.
  /// So many may wait for that as the window and the queue take together; what comes on top is treated as `when_full`
  /// says.
  /// Lower: less time in senders' handlers; each such message takes some ten microseconds more.
  std::size_t offload_bytes = 4_MiB;

  /// Whether this end compresses frames of 10,000 bytes and more before they leave, where samples and then the whole
  /// come to 0.7 of their size or less. What the peer has compressed is read whatever stands here; to refuse it, set
  /// `receive_limits.decompressed_bytes` to 0. Never between ends that share a store, nor within a process. Worth it
  /// where the network is slower than the codec: bench/README.md has figures. `message_bytes` bounds what goes
  /// through the socket; windows and queues count what compressed frames become as well. Over TLS the size of what is
  /// sent then tells something of its content.
  troupe::compression compression = compression::none;

  /// Whether families that trust their input, such as "cereal", may be listed above; else listing one is an error. Only
  /// for peers that could as well run code here. It permits, and lists none by itself: the default lists stay as they
  /// are, since a program has to add such a family to its set, and since peers that know "msgpack" only would be lost.
  bool trusted_families = false;

  /// Whether values may hold circles of shared pointers; else sending or receiving one is an error, since such objects
  /// keep each other alive after their message is consumed. Both ends must say so. Sharing without circles, and weak
  /// pointers back, need no leave.
  bool allow_cycles = false;

  /// How much memory values with circles that came over this link may take at once, counted until the program has cut
  /// all of a value's circles. Beyond it they are refused. Higher: a peer can make this process keep as much for ever.
  std::size_t cycle_bytes = 64_MiB;

  /// Whether the store is shared with the peer, where both have opened the same one; nullopt: over unix sockets and
  /// within a process only. Whoever shares a store can map all of it. An object_ref is found in a store that both have
  /// open whatever stands here.
  std::optional<bool> share_store = std::nullopt;

  /// Whether the link's bytes go through rings in shared memory rather than through its unix socket, where both ends
  /// want that: no system call then while both are busy. nullopt: where the store is shared, and where the address says
  /// "shm://". Over other transports it does nothing. Who has the ring can write into it at any time: the bytes are
  /// checked like those of a socket.
  std::optional<bool> use_rings = std::nullopt;

  /// The size of the ring of either direction: a power of two between 4 KiB and 16 MiB. Such a link takes twice as much
  /// memory, from its begin on; where both ends differ, an end that wants less declines. Higher: a sender runs on for
  /// longer while the peer is busy.
  std::size_t ring_bytes = 256_KiB;

  /// How the thread that reads this link waits for the peer.
  wait_mode wait = wait_mode::adaptive;

  /// What the peer of this link may ask for beyond sending messages to the actors that it was given.
  bool allow_spawn = false; ///< Spawning actors of registered types in this process: link::spawn.
  bool allow_tasks = false; ///< Running registered functions in this process: link::submit.
  /// Ending this process's actors by exit messages: send_exit, and the end of an actor of the peer's that is linked to
  /// one of this process. Without it such a link still works the other way round: the peer's actor ends with this
  /// process's.
  bool allow_exit = false;
  bool allow_memory_summary = false; ///< Asking what this node keeps alive, and why: link::memory_summary.
  bool allow_inspection = false;     ///< Asking for this node's links, figures and types: link::report.

  /// Whether this node may dial nodes that the peer of this link names, to have from them what the peer only passes on:
  /// with this link's options, its credentials among them, and without what is allowed above. So handles that came by
  /// way of the peer survive its death. Bounds: framework/handle-protocol.md.
  bool dial_introduced = true;

  /// Who gets in over TCP and TLS.
  struct credentials credentials = {};

  /// How long connecting may take, from dialing to the end of the handshake; also how long a peer that connects may
  /// take. Longer: slow networks get through; who connects and says nothing stays longer.
  std::chrono::milliseconds connect_timeout = std::chrono::seconds(5);

  /// The largest message that this end takes through the socket; the peer is told and refuses to send more. Frames
  /// that travel as handles do not count. Higher: larger messages pass; a hostile peer can make this node hold as much.
  std::size_t message_bytes = 1_GiB;

  /// How much the peer may have sent that is not consumed here: a message counts until its last reference is gone,
  /// which is when its handler has returned. With each message count 128 bytes of its own. Higher: faster over long
  /// distances; a slow node holds as much, and for a peer that states too little of what its values take, twice as much
  /// again. Of messages with a few bytes each it holds more than that: 1.5 times the window, three times for requests,
  /// five times if each is of another sender. One message may exceed it.
  /// Bounds either direction: of both ends' values the lesser counts.
  std::size_t window_bytes = 32_MiB;

  /// The same for one receiving actor, so that a slow one leaves room for the others. The lesser counts here, too.
  std::size_t actor_window_bytes = 8_MiB;

  /// How much may lie behind the handles of messages that the peer has sent and that are not consumed here: frames in
  /// the shared store, and what each object_ref refers to, once however often it is sent. So one slow actor can make
  /// this process decode, or the store keep, no more than that. One message may exceed it; messages without handles do
  /// not count. What an actor keeps after its handler has returned counts no more: only the store's capacity bounds
  /// that. Higher: more large values under way; a slow node holds as much. The lesser of both ends counts.
  std::size_t handle_window_bytes = 128_MiB;

  /// The same for one receiving actor. An object that several have been sent counts for each of them, and above once.
  std::size_t actor_handle_window_bytes = 32_MiB;

  /// How much may wait on this end until the peer has consumed enough, and how much of that for one receiver. Behind
  /// the handles of what waits may lie a quarter of the windows above. A message counts 640 bytes at least; one that
  /// finds half of the room free may exceed it. Higher: bursts pass that would be refused; more memory, and older
  /// messages.
  std::size_t queue_bytes = 8_MiB;
  std::size_t actor_queue_bytes = 2_MiB;

  /// What becomes of a message that finds no room to wait in. Answers, down messages and what the link itself sends do
  /// not wait: each request reserves room for its answer.
  troupe::when_full when_full = when_full::fail;

  /// How much may lie written for a peer that does not read it, beyond the window, before the next answer becomes the
  /// error `link_busy`; where as much again lies there, the link ends. One answer may exceed it. Higher: more large
  /// answers at once over slow networks; a peer that asks and does not read makes this node hold as much.
  std::size_t unread_answer_bytes = 256_MiB;

  /// How long a thread that runs no actors (main, a scoped_actor's) waits for room before that. 0: not at all.
  std::chrono::milliseconds block_timeout = std::chrono::seconds(10);

  /// A peer that is silent for so long is asked whether it is alive.
  std::chrono::milliseconds heartbeat_interval = std::chrono::seconds(5);

  /// A peer that is silent, or takes nothing, for so long is given up. Lower: a frozen peer is found sooner, a busy one
  /// given up wrongly.
  std::chrono::milliseconds heartbeat_timeout = std::chrono::seconds(20);

  /// What decoding one value may cost.
  limits receive_limits = {};

  /// Within a process: whether what would be handed over as it is gets encoded and decoded nevertheless, in both
  /// directions, so that it is refused for the same reasons as on a socket. For tests; the wish of either end suffices.
  /// On: each message costs about what it costs over a unix socket.
  bool verify_serialization = false;
};

/// What `link::reconfigure` changes of a live link's options; nullopt leaves what is. The other options cannot change:
/// who gets in, the store, the windows and `message_bytes` are agreed in the handshake, and both ends count by them;
/// limits and what the peer may ask for are promises to it. For those, connect again.
struct link_changes {
  /// Families that need trust need the link's `trusted_families`, which stays as it is.
  std::optional<std::vector<std::string>> serializers = std::nullopt;
  /// An empty list: the same as the serializers. Where only `serializers` is given, this list stays as it is.
  std::optional<std::vector<std::string>> deserializers = std::nullopt;
  std::optional<troupe::compression> compression = std::nullopt;
  std::optional<std::size_t> spill_bytes = std::nullopt;
  std::optional<std::size_t> offload_bytes = std::nullopt;
};

} // namespace troupe
