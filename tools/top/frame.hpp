// One frame of `troupe top`: the changes between two updates. All functions are pure.
#pragma once

#include "nodes/reports.hpp"

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace troupe::tools {

/// The reports of all nodes at one moment.
struct look {
  std::chrono::steady_clock::time_point at;
  std::vector<asked_node> nodes;
};

enum class top_order { traffic, waiting, link, peer };
[[nodiscard]] std::string_view name_of(top_order order);
[[nodiscard]] top_order next(top_order order);

/// Rates of one link, per second, and its latencies since the previous report.
struct link_rates {
  double messages_out = 0;
  double messages_in = 0;
  double bytes_out = 0; // Through the socket and by handle.
  double bytes_in = 0;
  double lost = 0; // Messages not delivered, refused or dropped.
  latency_stats round_trip;
  latency_stats handler;
};

/// All zero if the link was not in the previous report.
[[nodiscard]] link_rates rates_of(const link_report& link, const node_report* before,
                                  std::chrono::duration<double> passed);

/// At most `rows` lines of at most `columns` characters: nodes in their order, the links of each sorted by `order`.
[[nodiscard]] std::vector<std::string> lines_of(const look& before, const look& now, top_order order,
                                                std::size_t columns, std::size_t rows);

/// The reports as one JSON document, with `rates` in each link.
[[nodiscard]] nlohmann::ordered_json document_of(const look& before, const look& now);

} // namespace troupe::tools
