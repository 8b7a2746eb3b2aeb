// What a node and a link can be told, with defaults and what raising or lowering each costs.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <troupe/framework/base/sizes.hpp>
#include <troupe/serializers/limits.hpp>
#include <troupe/store/options.hpp>

namespace troupe {

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

  /// Whether families that trust their input may be listed. Only for peers that could as well run code here.
  bool trusted_families = false;

  /// Whether the store is shared with the peer, where both have opened the same one. Whoever shares a store can map
  /// all of it.
  bool share_store = true;

  /// How long connecting may take, from dialing to the end of the handshake.
  std::chrono::milliseconds connect_timeout = std::chrono::seconds(5);

  /// The largest message that this end takes through the socket; the peer is told and refuses to send more. Frames
  /// that travel as handles do not count. Higher: larger messages pass; a hostile peer can make this node hold as much.
  std::size_t message_bytes = 1_GiB;

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

  /// How long the node's end waits until what was sent has left.
  std::chrono::milliseconds drain_timeout = std::chrono::milliseconds(500);
};

} // namespace troupe
