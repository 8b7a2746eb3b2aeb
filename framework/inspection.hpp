// What a node says of itself, its links and its types; and which nodes of this host can be asked.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include <troupe/base/export.hpp>
#include <troupe/framework/link_stats.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/serializers/describe.hpp>

namespace troupe {

/// One open link of a node.
struct link_report {
  std::uint64_t number = 0; // link::number() there.
  std::string peer;
  std::string transport;  // "unix", "shm" (a unix socket with rings), "tcp", "tls" or "inproc".
  bool is_dialed = false; // By that node; else the peer dialed.
  bool shares_store = false;
  std::int64_t age_ms = 0;
  std::vector<std::string> serializers;   // What that end sends with, of what the peer accepts ...
  std::vector<std::string> deserializers; // ... and what it accepts.
  std::string compression;
  link_stats stats;
};
TROUPE_DESCRIBE(link_report, number, peer, transport, is_dialed, shares_store, age_ms, serializers, deserializers,
                compression, stats)

struct store_report {
  std::string name; // Empty: the node has none, or it cannot be asked.
  std::uint64_t capacity_bytes = 0;
  std::uint64_t bytes_in_use = 0;
  std::uint64_t objects = 0;
  std::uint64_t spilled_objects = 0;
  std::uint64_t spilled_bytes = 0;
  std::uint64_t waiting = 0; // Who waits for room.
};
TROUPE_DESCRIBE(store_report, name, capacity_bytes, bytes_in_use, objects, spilled_objects, spilled_bytes, waiting)

struct node_report {
  std::string name;
  std::string version; // Of Troupe.
  std::uint32_t process = 0;
  std::int64_t age_ms = 0;
  std::vector<std::string> addresses;
  std::vector<std::string> families; // That its links may use.
  std::string contract;              // contract_of() its types; empty unless it was asked for.
  std::uint64_t names_published = 0;
  std::uint64_t links_opened = 0;
  std::uint64_t peers_refused = 0;
  link_stats totals; // Of all links that are and were.
  std::vector<link_report> links;
  store_report store;
};
TROUPE_DESCRIBE(node_report, name, version, process, age_ms, addresses, families, contract, names_published,
                links_opened, peers_refused, totals, links, store)

/// What is asked of a node. Missing fields have these defaults.
struct report_query {
  bool links = true;  // Each of them, with its figures by family and type.
  bool types = false; // The contract of its types.
};
TROUPE_DESCRIBE(report_query, links, types)

/// Where one node answers processes of its own user on its own host (node_options::local_inspection). A link to there
/// may ask for memory_summary and report, and reaches nothing else.
struct inspection_address {
  std::string address;
  std::uint32_t process = 0;
};

/// Those of this user's nodes in this network namespace, by process. They may be gone before they are dialed. Fails
/// with `unsupported` where the system does not tell which sockets there are.
[[nodiscard]] TROUPE_EXPORT std::expected<std::vector<inspection_address>, node_error> inspection_addresses();

} // namespace troupe
