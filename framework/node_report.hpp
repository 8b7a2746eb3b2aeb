// What a node reports about itself, its links and its types. How to find the nodes of this host.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include <troupe/base/export.hpp>
#include <troupe/framework/link_stats.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/framework/node_version.hpp>
#include <troupe/serializers/describe.hpp>

namespace troupe {

/// One open link of a node.
struct link_report {
  std::uint64_t number = 0;           // link::number() in that node's process.
  std::string peer;                   // The name of the peer's node.
  std::string address;                // Where the peer is: link::peer_address().
  node_version version;               // Of the peer.
  std::vector<link_feature> features; // Of the peer.
  std::string transport;              // "unix", "shm" (a unix socket with rings), "tcp", "tls" or "inproc".
  bool is_dialed = false;             // Whether the reporting node dialed; false if the peer did.
  bool shares_store = false;
  std::int64_t age_ms = 0;
  std::vector<std::string> serializers;   // Families with which it sends, as far as the peer accepts them.
  std::vector<std::string> deserializers; // Families that the reporting node accepts.
  std::string compression;
  link_stats stats;
  std::string role = {}; // That the peer has for the reporting node: link::peer_role(). Empty: none.
  /// The same at both ends, and of no other link: 32 hexadecimal digits. No secret, and no proof: a node may report
  /// what it likes. Empty: the reporting node is of a version that tells none.
  std::string link_id = {};
};
TROUPE_DESCRIBE(link_report, number, peer, address, version, features, transport, is_dialed, shares_store, age_ms,
                serializers, deserializers, compression, stats, role, link_id)

/// The store of a node.
struct store_report {
  std::string name; // Empty if the node has no store, or if the store cannot be read.
  std::uint64_t capacity_bytes = 0;
  std::uint64_t bytes_in_use = 0;
  std::uint64_t objects = 0;
  std::uint64_t spilled_objects = 0;
  std::uint64_t spilled_bytes = 0;
  std::uint64_t waiting = 0; // Callers that wait for room.
};
TROUPE_DESCRIBE(store_report, name, capacity_bytes, bytes_in_use, objects, spilled_objects, spilled_bytes, waiting)

/// What one node reports about itself.
struct node_report {
  std::string name;
  std::string version; // Troupe's version in that process.
  std::uint32_t process = 0;
  std::int64_t age_ms = 0;
  std::vector<std::string> addresses;
  std::vector<std::string> families; // The families that its links may use.
  std::string contract;              // contract_of() its types; empty unless the query has `types`.
  std::uint64_t names_published = 0;
  std::uint64_t links_opened = 0;  // So far.
  std::uint64_t peers_refused = 0; // So far, in handshakes.
  link_stats totals;               // The sums over all links, open and ended.
  std::vector<link_report> links;
  store_report store;
};
TROUPE_DESCRIBE(node_report, name, version, process, age_ms, addresses, families, contract, names_published,
                links_opened, peers_refused, totals, links, store)

/// A question to a node. A field that is missing has its default below.
struct report_query {
  bool links = true;  // Report each open link, with its counters by family and type.
  bool types = false; // Report the contract of its types.
};
TROUPE_DESCRIBE(report_query, links, types)

/// What a node can read and run: its families, types and functions.
struct node_contract {
  std::string name; // Of the node.
  node_version version;
  std::vector<std::string> families; // Those that its links may use.
  std::string types;                 // contract_of() its types and functions.
};
TROUPE_DESCRIBE(node_contract, name, version, families, types)

/// An address at which one node answers processes of the same user on the same host (node_options::local_queries). A
/// link to this address can ask for memory_summary and report only.
struct local_node {
  std::string address;
  std::uint32_t process = 0;
};

/// Returns the addresses of this user's nodes in this network namespace, each with its process. A node may have ended
/// before its address is dialed. Fails with `unsupported` if the system does not list its sockets.
[[nodiscard]] TROUPE_EXPORT std::expected<std::vector<local_node>, node_error> local_nodes();

} // namespace troupe
