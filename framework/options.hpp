// What a node can be told, with defaults and what raising or lowering each costs; the options of links come with it.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/link_options.hpp>
#include <troupe/framework/publication.hpp>
#include <troupe/store/options.hpp>

namespace troupe {

/// How a node is opened.
struct node_options {
  /// What peers and logs call this node; need not be unique.
  std::string name = "node";

  /// Addresses to listen at: "unix:///path/of/socket", "unix://@name" for a name without a file, "inproc://name" for
  /// other nodes of this process, "tcp://host:port" or "tls://host:port", where host is a name (which stands for the
  /// first address that it has), an IPv4 address or an IPv6 address in brackets; "0.0.0.0" and "[::]" are all of this
  /// host's. With port 0 the system chooses one; `node::addresses` tells. A node without addresses here can listen
  /// later: `node::listen`.
  std::vector<std::string> listen = {};

  /// What peers find from the first moment on: these names are published before the node listens. A name that is
  /// published after `node::open` can be asked for before it is there. Not for configuration files: a program with one
  /// gives the list to `node::open` itself.
  std::vector<publication> publish = {};

  /// How many peers may be connected without having proven who they are. When one more comes, one of the network with
  /// the most goes, chosen at random; the same when descriptors run out. Each costs up to 150 KiB.
  std::size_t unproven_peers_max = 64;

  /// The policy for links that peers dial; its credentials decide who gets in at the TCP and TLS addresses of `listen`.
  link_options accepted_links = {};

  /// The host's store to attach to; nullopt for a node without one.
  std::optional<store::options> store = store::options{};

  /// Whether opening fails where the store cannot be opened for a reason that lies in the host: its names are taken by
  /// other users, there is no room, another version of Troupe has it. Off: the node opens without a store and warns;
  /// large frames then go through sockets, and `put` keeps values in this process. Options that contradict the store's
  /// own, are impossible, or say `must_exist` are an error either way.
  bool store_required = false;

  /// Families that encode what `node::put` is given, in order of preference. Arrays lie in the store as they are.
  std::vector<std::string> store_families = {"typed", "msgpack"};

  /// Whether references to objects of this node's store may be serialized outside of messages, where nobody counts
  /// them; see allow_out_of_band_handles. On: each object that leaves so stays until the node ends.
  bool allow_out_of_band_handles = false;

  /// Whether other processes of this user on this host may ask what this node keeps and why, and for its links, figures
  /// and types, which is how the `troupe` command finds it: at a socket without a file, where peers reach nothing else.
  /// So that they cannot make this node work or keep what it likes for them, 64 may be connected at a time, of each 4
  /// questions are answered at a time and of all 16, and 8 MiB of answers may lie unread: beyond that `link_busy`.
  bool local_inspection = true;

  /// How many threads read and write the node's links; 0: as many as the process may use cores; at most 256. A link
  /// belongs to the thread that had the fewest when it came. What one link needs (TLS, decompression, decoding) holds
  /// up those of its thread only, and as many large messages are encoded at a time. Each costs three descriptors, and
  /// with `dispatch` a second thread that mostly sleeps; codecs of a program's own are called by all of them at once.
  /// More pay where one thread cannot keep up, or where payloads take long to decode.
  std::size_t io_threads = 1;

  /// Whether an I/O thread runs the actors whose messages it has just read, for up to 300 us at a time, and looks for
  /// more for 50 us before it sleeps, where that has found something of late: waking threads takes longer than a short
  /// handler. Slow actors, and what is left, are moved to CAF's workers; while a handler runs for longer than 1 to 2 ms
  /// another thread reads. Off: every message wakes a worker.
  bool dispatch = true;

  /// How much memory the rings of all links may take (link_options::use_rings). A link that finds no room there stays
  /// in its socket.
  std::size_t ring_memory_bytes = 64_MiB;

  /// Whether links count payloads by family and type and measure what encoding and decoding takes; see
  /// link_stats::by_type. Off: small messages are faster by a percent or so.
  bool detailed_stats = true;

  /// How long what was sent to peers on other hosts as object_refs is kept after their link was lost, for a new link to
  /// the same peer; and how long what came from them waits for that. Longer bridges longer interruptions, and keeps
  /// dead peers' objects.
  std::chrono::milliseconds handle_grace = std::chrono::seconds(30);

  /// How long the node's end waits until what was sent has left.
  std::chrono::milliseconds drain_timeout = std::chrono::milliseconds(500);
};

} // namespace troupe
