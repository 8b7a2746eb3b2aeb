// The reports of nodes about themselves, as text and as JSON.
#pragma once

#include "nodes/client.hpp"

#include <troupe/framework/node_report.hpp>

#include <nlohmann/json_fwd.hpp>

#include <expected>
#include <string>
#include <vector>

namespace troupe::tools {

struct asked_node {
  local_node where;
  std::expected<node_report, node_error> report = std::unexpected{node_error{node_errc::link_down, "not asked"}};
};

/// Asks each node over a separate link, which is closed after the answer.
[[nodiscard]] std::vector<asked_node> reports_of(const std::vector<local_node>& nodes, const report_query& what,
                                                 const access& by);

/// The command's exit status: 1 if a node does not answer, 2 if an address is invalid, else 0.
[[nodiscard]] int status_of(const node_error& why);
[[nodiscard]] int status_of(const std::vector<asked_node>& nodes);

/// Removes the command's own links from the report.
void leave_out_observer(asked_node& asked);

/// The number of messages that were not sent or not delivered.
[[nodiscard]] std::uint64_t lost_by(const link_stats& stats);

/// "1.20 GB": three digits and a unit, in powers of 1,000.
[[nodiscard]] std::string text_of_bytes(double bytes);
/// "85.0 us / 1.20 ms": the median and the 99th percentile; "-" if nothing was counted.
[[nodiscard]] std::string text_of(const latency_stats& latency);
[[nodiscard]] std::string list_of(const std::vector<std::string>& names);

/// "kitchen, process 1234, troupe 0.1.0, up 5 min".
[[nodiscard]] std::string title_of(const node_report& node);
/// "store \"default\": 34 objects, 12 % of 1.10 GB in use"; empty if the node has no store.
[[nodiscard]] std::string text_of(const store_report& store);

/// Each node with a table of its links, then the nodes that have not answered.
[[nodiscard]] std::string text_of(const std::vector<asked_node>& nodes);
[[nodiscard]] nlohmann::ordered_json document_of(const asked_node& node);

} // namespace troupe::tools
