// Answers peers' questions about this node.
#pragma once

#include <cstddef>
#include <expected>
#include <functional>
#include <string>

#include <caf/actor.hpp>
#include <caf/actor_system.hpp>

#include <troupe/framework/memory_summary.hpp>
#include <troupe/framework/node_activity.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/framework/node_report.hpp>
#include <troupe/framework/remote_recording.hpp>

namespace troupe::internal {

/// Limits on answers that are being made at a time, per link and in all. Further questions are refused, because answers
/// may be large and examine the whole node.
inline constexpr std::size_t queries_per_link_max = 4;
inline constexpr std::size_t queries_max = 16;

/// The questions that peers may ask. An empty function stands for a question that is refused.
struct query_answers {
  std::function<std::expected<memory_summary, node_error>(const memory_query&)> memory;
  std::function<std::expected<node_report, node_error>(const report_query&)> report;
  std::function<std::expected<node_activity, node_error>(const activity_query&)> activity;
  std::function<std::expected<recording_part, node_error>(const recording_query&)> recording;
  /// `by` names the peer, for people. May block.
  std::function<std::expected<order_receipt, node_error>(const node_order&, const std::string& by)> order;
  std::string role = {}; // That the peers have here; empty: none.
};

/// An actor that answers with the results of `answers`, on threads of the system's scheduler. An exit message ends it.
/// Above the limits it answers with `link_busy`.
[[nodiscard]] caf::actor spawn_inspector(caf::actor_system& system, query_answers answers);

} // namespace troupe::internal
