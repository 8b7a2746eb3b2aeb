// The options of a node, with defaults and the cost of raising or lowering each. Includes the options of links.
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

/// How a node is opened. An option that the program leaves unset takes the value of the configuration, if there is one
/// (options.md), or else the default below.
struct node_options {
  /// The name of this node for peers and logs; need not be unique.
  setting<std::string> name{by_default, "node"};

  /// Addresses to listen at: "unix:///path/of/socket", "unix://@name" (a name without a file), "inproc://name" (for
  /// other nodes of this process), "tcp://host:port" or "tls://host:port". The host is an IPv4 address, an IPv6 address
  /// in brackets, or a name, which stands for all of its addresses; "0.0.0.0" and "[::]" are all addresses of this
  /// host. With port 0 the system chooses a port, which `node::addresses` tells. A node can also listen later:
  /// `node::listen`.
  setting<std::vector<std::string>> listen = {};

  /// Names that are published before the node listens, so that peers find them from the start. Names published after
  /// `node::open` may be looked up before they exist. Not available in configuration files, which cannot name actors.
  setting<std::vector<publication>> publish = {};

  /// The maximum number of connected peers that are not authenticated yet. If one more connects, or if descriptors run
  /// out, the node closes the connection of one of these peers, chosen at random in the IP subnet from which most of
  /// them connect. Each such peer costs up to 150 KiB.
  setting<std::size_t> unproven_peers_max{by_default, 64};

  /// The policy for links that peers dial. Its credentials decide who may connect to the TCP and TLS addresses of
  /// `listen`.
  link_options accepted_links = {};

  /// The host's store to attach to; nullopt: the node has no store.
  setting<std::optional<store::options>> store{by_default, store::options{}};

  /// Whether `node::open` fails if the host prevents opening the store: other users have taken its names, there is no
  /// room, or another version of Troupe has it open. Off: the node opens without a store and warns; large frames then
  /// go through sockets, and `put` keeps values in this process. In both cases it is an error if the options contradict
  /// the store's own or are impossible, or if `must_exist` is set and no process has the store open.
  setting<bool> store_required = {};

  /// Families that encode the values of `node::put`, in order of preference. Arrays are stored unencoded.
  setting<std::vector<std::string>> store_families{by_default, {"typed", "msgpack"}};

  /// Whether references to objects of this node's store may be serialized outside of messages, where they are not
  /// counted; see allow_out_of_band_handles. On: each object serialized that way is kept until the node ends.
  setting<bool> allow_out_of_band_handles = {};

  /// Whether other processes of this user on this host may ask for this node's memory summary, links, figures and
  /// types, as the `troupe` command does. They use a socket without a file, through which they reach nothing else.
  /// Bounds: 64 connections; 4 questions in progress for each connection, 16 in all; 8 MiB of unread answers. Questions
  /// beyond these bounds fail with `link_busy`.
  setting<bool> local_queries{by_default, true};

  /// The number of threads that read and write the node's links; 0: one for each core that the process may use; at most
  /// 256. A new link is assigned to the thread that has the fewest. TLS, decompression and decoding for one link delay
  /// only the links of its thread. As many large messages are encoded at a time as there are I/O threads. All threads
  /// may call a program's own codecs at once. Each thread costs three descriptors and, with `dispatch`, a second thread
  /// that mostly sleeps. More threads help if one cannot keep up, or if payloads take long to decode.
  setting<std::size_t> io_threads{by_default, 1};

  /// Whether an I/O thread runs the actors whose messages it has just read, for up to 300 us at a time, because waking
  /// a thread takes longer than a short handler. The I/O thread also polls for further messages for 50 us before it
  /// sleeps, if polling has recently found something. Slow actors and remaining messages are moved to CAF's workers;
  /// while a handler runs for longer than 1 to 2 ms, another thread reads. Off: every message wakes a worker.
  setting<bool> dispatch{by_default, true};

  /// The bound on the memory of all links' rings (link_options::use_rings). A link that finds no room within it stays
  /// on its socket.
  setting<std::size_t> ring_memory_bytes{by_default, 64_MiB};

  /// Whether links count payloads by family and type and measure the time of encoding and decoding; see
  /// link_stats::by_type. Off: small messages are faster by about a percent.
  setting<bool> detailed_stats{by_default, true};

  /// How long objects sent as object_refs to a peer on another host are kept after its link was lost, so that a new
  /// link to the same peer can take them over; and how long objects received from such a peer wait for a new link.
  /// Longer: longer interruptions lose nothing; objects of dead peers are kept for longer.
  setting<std::chrono::milliseconds> handle_grace{by_default, std::chrono::seconds(30)};

  /// How long the node's destructor waits for pending messages to be written.
  setting<std::chrono::milliseconds> drain_timeout{by_default, std::chrono::milliseconds(500)};
};

} // namespace troupe
