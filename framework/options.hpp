// What a node and a link can be told, with defaults and what raising or lowering each costs.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <troupe/framework/base/sizes.hpp>
#include <troupe/serializers/limits.hpp>
#include <troupe/store/options.hpp>

namespace troupe {

/// What becomes of a message when there is no more room for it to wait in.
enum class when_full : std::uint8_t {
  fail,       ///< It is not sent: a request gets the error `link_busy`, a plain message is counted and logged.
  drop_oldest ///< The oldest of those that wait for the same receiver goes; where it was a request, it gets the error.
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

  /// Whether families that trust their input, such as "cereal", may be listed above; else listing one is an error. Only
  /// for peers that could as well run code here.
  bool trusted_families = false;

  /// Whether the store is shared with the peer, where both have opened the same one. Whoever shares a store can map
  /// all of it.
  bool share_store = true;

  /// How long connecting may take, from dialing to the end of the handshake.
  std::chrono::milliseconds connect_timeout = std::chrono::seconds(5);

  /// The largest message that this end takes through the socket; the peer is told and refuses to send more. Frames
  /// that travel as handles do not count. Higher: larger messages pass; a hostile peer can make this node hold as much.
  std::size_t message_bytes = 1_GiB;

  /// How much the peer may have sent that is not consumed here: a message counts until its last reference is gone,
  /// which is when its handler has returned. With each message count 128 bytes of its own. Higher: faster over long
  /// distances; a slow node holds as much. One message may exceed it.
  std::size_t window_bytes = 32_MiB;

  /// The same for one receiving actor, so that a slow one leaves room for the others.
  std::size_t actor_window_bytes = 8_MiB;

  /// How much may wait on this end until the peer has consumed enough, and how much of that for one receiver.
  /// Higher: bursts pass that would be refused; more memory, and older messages.
  std::size_t queue_bytes = 8_MiB;
  std::size_t actor_queue_bytes = 2_MiB;

  /// What becomes of a message that finds no room to wait in. Answers, down messages and what the link itself sends are
  /// never held back: each request reserves room for its answer.
  troupe::when_full when_full = when_full::fail;

  /// How long a thread that runs no actors (main, a scoped_actor's) waits for room before that. 0: not at all.
  std::chrono::milliseconds block_timeout = std::chrono::seconds(10);

  /// A peer that is silent for so long is asked whether it is alive.
  std::chrono::milliseconds heartbeat_interval = std::chrono::seconds(5);

  /// A peer that is silent, or takes nothing, for so long is given up. Lower: a frozen peer is found sooner, a busy one
  /// given up wrongly.
  std::chrono::milliseconds heartbeat_timeout = std::chrono::seconds(20);

  /// What decoding one value may cost.
  limits receive_limits = {};
};

/// How a node is opened.
struct node_options {
  /// What peers and logs call this node; need not be unique.
  std::string name = "node";

  /// Addresses to listen at: "unix:///path/of/socket", or "unix://@name" for a name without a file.
  std::vector<std::string> listen = {};

  /// The policy for links that peers dial.
  link_options accepted_links = {};

  /// The host's store to attach to; nullopt for a node without one.
  std::optional<store::options> store = store::options{};

  /// Families that encode what `node::put` is given, in order of preference. Arrays lie in the store as they are.
  std::vector<std::string> store_families = {"typed", "msgpack"};

  /// Whether the I/O thread runs the actors whose messages it has just read, for up to 200 microseconds at a time. That
  /// saves waking one of CAF's workers, which takes longer than a short handler; long handlers are moved to the
  /// workers. Off: every message wakes a worker.
  bool dispatch = true;

  /// How long the node's end waits until what was sent has left.
  std::chrono::milliseconds drain_timeout = std::chrono::milliseconds(500);
};

} // namespace troupe
