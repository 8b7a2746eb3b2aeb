// The options of a node, with their defaults and what other values cost. Includes the options of links.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/link_options.hpp>
#include <troupe/framework/publication.hpp>
#include <troupe/framework/setting.hpp>
#include <troupe/store/options.hpp>

namespace troupe {

/// How a node is opened. If the program leaves an option unset, it takes the value of the configuration (options.md),
/// or else the default below. "Higher", "Lower", "On" and "Off" say what happens if the option has such a value.
struct node_options {
  /// The name of this node for peers and in logs; 1 to 1,024 bytes. Several nodes may have the same name.
  setting<std::string> name{by_default, "node"};

  /// Addresses to listen at: "unix:///path/of/socket", "unix://@name" (a name without a file), "inproc://name" (for
  /// other nodes of this process), "tcp://host:port" or "tls://host:port". "shm://" instead of "unix://" asks for rings
  /// (link_options::use_rings). The host is an IPv4 address, an IPv6 address in brackets, or a name, which stands for
  /// all of its addresses. "0.0.0.0" and "[::]" are all addresses of this host. With port 0 the system chooses a port,
  /// which `node::addresses` returns. A node can also listen later: `node::listen`.
  setting<std::vector<std::string>> listen = {};

  /// Names that are published before the node listens, so that peers find them from the start. A name published after
  /// `node::open` may be looked up before it exists. Not available in configuration files, which cannot name actors.
  setting<std::vector<publication>> publish = {};

  /// The maximum number of connected peers that are not authenticated yet. If one more connects, or if descriptors run
  /// out, the node closes the connection of one of these peers. It picks this peer at random from the IP subnet with
  /// the most such peers. Higher: a flood of strangers displaces fewer honest peers; each unauthenticated peer costs up
  /// to 150 KiB.
  setting<std::size_t> unproven_peers_max{by_default, 64};

  /// The policy for links that peers dial. Its credentials decide which peers may connect to the TCP and TLS addresses
  /// of `listen`.
  link_options accepted_links = {};

  /// The host's store to which the node attaches. nullopt: the node has no store.
  setting<std::optional<store::options>> store{by_default, store::options{}};

  /// Whether `node::open` fails if the host prevents opening the store: other users have taken its names, there is no
  /// room, or another version of Troupe has it open. Off: the node opens without a store and logs a warning; large
  /// frames then go through sockets, and `put` keeps values in this process. In both cases `node::open` fails if the
  /// options are impossible or contradict the store's own, or if `must_exist` is set and no process has the store open.
  setting<bool> store_required = {};

  /// The families that encode the values of `node::put`, in order of preference. Arrays are stored as they lie in
  /// memory.
  setting<std::vector<std::string>> store_families{by_default, {"typed", "msgpack"}};

  /// Whether references to objects of this node's store may be serialized outside of messages, where they are not
  /// counted (allow_out_of_band_handles). On: each object serialized in this way is kept until the node ends.
  setting<bool> allow_out_of_band_handles = {};

  /// Whether other processes of this user on this host may ask for this node's memory summary, links, counters and
  /// types, as the `troupe` command does. They use a socket without a file, through which they reach nothing else.
  /// Bounds: 64 connections; 4 questions in progress for each connection, 16 in all; 8 MiB of unread answers. Questions
  /// beyond these bounds fail with `link_busy`.
  setting<bool> local_queries{by_default, true};

  /// Whether these processes may also give orders to this node (link::order): close and reconfigure its links, and
  /// unpin objects. On by default, because a process of the same user could end this process just as well.
  setting<bool> local_orders{by_default, true};

  /// The number of threads that read and write the node's links, at most 256. 0: one for each core that the process may
  /// use. A new link is assigned to the thread that has the fewest links. The node encodes as many large messages at a
  /// time as it has I/O threads. Several threads may call a program's own codecs at once. More threads help if one
  /// cannot keep up, or if payloads take long to decode: TLS, decompression and decoding for one link delay only the
  /// other links of the same thread. Each thread costs three descriptors and, with `dispatch`, a second thread that
  /// mostly sleeps.
  setting<std::size_t> io_threads{by_default, 1};

  /// Whether an I/O thread runs the actors whose messages it has just read, for up to 300 us at a time, because waking
  /// another thread takes longer than a short handler. If it has recently found more messages by polling, it also polls
  /// for 50 us before it sleeps. CAF's workers run slow actors, and what is left after 300 us. If a handler runs for
  /// longer than 1 to 2 ms, another thread reads the links meanwhile. Off: every message wakes a worker.
  setting<bool> dispatch{by_default, true};

  /// The bound on the memory of all links' rings (link_options::use_rings). If the rings of a further link would exceed
  /// it, that link stays on its socket.
  setting<std::size_t> ring_memory_bytes{by_default, 64_MiB};

  /// Whether links count payloads by family and type, measure the time of encoding and decoding (link_stats::by_type),
  /// and keep distributions of latencies (link_stats::latencies). Off: small messages are about 1 % faster.
  setting<bool> detailed_stats{by_default, true};

  /// How long this node keeps objects that it sent as object_refs to a peer on another host, after the link was lost. A
  /// new link to the same peer can take them over. Objects received from such a peer wait for a new link equally long.
  /// Higher: longer interruptions lose nothing; objects of dead peers are kept for longer.
  setting<std::chrono::milliseconds> handle_grace{by_default, std::chrono::seconds(30)};

  /// How many bytes of answers the node keeps for requests that may be repeated (lasting_options::retry). If a request
  /// is repeated after its answer was dropped, it fails with `outcome_unknown`. Each answer counts with 256 bytes and
  /// the memory of its values. An answer is dropped earlier if its requester does not need it any more. 0: none are
  /// kept.
  setting<std::size_t> answer_memory_bytes{by_default, 16_MiB};

  /// How long these answers are kept, at least 0. Higher: requests can be repeated after longer interruptions.
  setting<std::chrono::milliseconds> answer_memory_time{by_default, std::chrono::minutes(5)};

  /// How long the node's destructor waits for pending messages to be written. Higher: fewer messages to slow peers are
  /// lost; the destructor takes longer.
  setting<std::chrono::milliseconds> drain_timeout{by_default, std::chrono::milliseconds(500)};
};

} // namespace troupe
