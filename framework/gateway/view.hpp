// What the page at /view shows, and where it comes from: gateway::serve_view() takes any source, and
// gateway::serve_own_view() shows the gateway's own node.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include <troupe/base/export.hpp>
#include <troupe/framework/memory_summary.hpp>
#include <troupe/framework/node_activity.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/framework/node_report.hpp>
#include <troupe/serializers/describe.hpp>

namespace troupe {

/// Whether a node that the page shows has answered.
enum class viewed_state : std::uint8_t {
  open,   ///< It has answered.
  silent, ///< It has not answered this time: viewed_node::problem says why.
  lost    ///< It has ended, viewed_node::state_ms ago.
};
TROUPE_DESCRIBE_ENUM(viewed_state, open, silent, lost)

/// One node on the page.
struct viewed_node {
  /// Names the node in URLs and orders: at most 200 letters, digits, '-', '_' and '.'. A node keeps its key; another
  /// node never gets it, also not from another source or in another run of the program. Else an order of a page that is
  /// open for long would reach it. A number that counts from 1 is no key.
  std::string key;
  std::string address; ///< At which it was asked; empty: it is the gateway's own.
  viewed_state state = viewed_state::open;
  std::int64_t state_ms = 0; ///< For how long it has been silent or lost.
  std::string problem;
  node_report report;             ///< The last one; empty if the node never answered.
  std::int64_t report_age_ms = 0; ///< For how long `report` has been known.
};

/// A member of a cluster, as its directory says.
struct viewed_member {
  std::string name;
  std::string state;
  std::string host;
  std::vector<std::string> addresses;
  std::vector<std::string> names;
  std::vector<std::string> singletons;
  std::vector<std::string> entities; ///< "cart: 12 shards".
  std::string problem = {};          ///< Why its node tells nothing, and what to do about it. Empty: it answers.
};
TROUPE_DESCRIBE(viewed_member, name, state, host, addresses, names, singletons, entities, problem)

/// A cluster, as its directory says.
struct viewed_cluster {
  std::string directory; ///< Its address.
  std::string problem;   ///< Why the directory does not answer; what is known stays meanwhile. Empty: it answers.
  std::vector<viewed_member> members;
  std::vector<std::string> faults; ///< Entries that cannot be read, with the reasons.
};
TROUPE_DESCRIBE(viewed_cluster, directory, problem, members, faults)

/// What the page shows at one time.
struct view_snapshot {
  std::vector<viewed_node> nodes;
  std::optional<viewed_cluster> cluster;
  std::vector<std::string> problems; ///< What is missing here, and what to do about it, in a sentence each.
};

/// What happens in one node on the page.
struct viewed_activity {
  std::string key; ///< viewed_node::key.
  /// Letters and spans: those since the last call that had some.
  node_activity now;
  std::string problem; ///< Why the node does not tell it. Empty: it does.
};

/// An order that somebody has given on the page.
struct view_order {
  std::string node; ///< viewed_node::key.
  node_order order;
};
TROUPE_DESCRIBE(view_order, node, order)

/// Where a view comes from. Implement it to show other nodes than the gateway's own.
///
/// Threads: the gateway calls it on one thread of its own, one call at a time. Calls may block, at most for about the
/// timeout. It is called only while somebody looks at the page; any number of viewers cause one look() in 0.9 s.
class TROUPE_EXPORT view_source {
public:
  view_source() = default;
  view_source(const view_source&) = delete;
  view_source& operator=(const view_source&) = delete;
  virtual ~view_source();

  [[nodiscard]] virtual view_snapshot look(std::chrono::milliseconds timeout) = 0;

  /// What is kept in memory and on disk, and why.
  [[nodiscard]] virtual memory_summary memory(std::chrono::milliseconds timeout) = 0;

  /// What happens in the nodes: actors, supervisors, dead letters, traces. Called only while somebody looks at one of
  /// these sections. The default is nothing.
  [[nodiscard]] virtual std::vector<viewed_activity> activity(std::chrono::milliseconds timeout);

  /// Whether the page offers orders to holders of the right `act`.
  [[nodiscard]] virtual bool takes_orders() const = 0;

  /// Carries out an order. `by` is the name of the token. Fails with `not_found` if there is no such node, link or pin,
  /// and otherwise as the call for which the order stands.
  [[nodiscard]] virtual std::expected<void, node_error> act(const view_order& given, const std::string& by,
                                                            std::chrono::milliseconds timeout) = 0;
};

} // namespace troupe
