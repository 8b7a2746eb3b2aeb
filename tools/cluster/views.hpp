// The parts of a cluster, as tables and as JSON.
#pragma once

#include <troupe/framework/cluster/cluster_observer.hpp>

#include <nlohmann/json_fwd.hpp>

#include <map>
#include <string>
#include <vector>

namespace troupe::tools {

/// What a member does for the cluster.
struct member_work {
  std::vector<std::string> names;
  std::vector<std::string> singletons;
  std::map<std::string, std::vector<std::uint32_t>> shards; // By kind.

  [[nodiscard]] std::size_t shard_count() const;
  [[nodiscard]] bool is_none() const { return names.empty() && singletons.empty() && shards.empty(); }
  friend bool operator==(const member_work&, const member_work&) = default;
};
[[nodiscard]] member_work work_of(const cluster_snapshot& in, const std::string& member);
/// "2 names, 1 singleton, 12 shards"; "nothing".
[[nodiscard]] std::string text_of(const member_work& work);
[[nodiscard]] nlohmann::ordered_json document_of(const member_work& work);

[[nodiscard]] std::string text_of_members(const cluster_snapshot& in);
[[nodiscard]] nlohmann::ordered_json document_of_members(const cluster_snapshot& in);

/// Names and singletons.
[[nodiscard]] std::string text_of_names(const cluster_snapshot& in);
[[nodiscard]] nlohmann::ordered_json document_of_names(const cluster_snapshot& in);

/// The number of shards of each kind that each member owns.
[[nodiscard]] std::string text_of_entities(const cluster_snapshot& in);
[[nodiscard]] nlohmann::ordered_json document_of_entities(const cluster_snapshot& in);

/// "12:30:00.123  name_added  cart-1  cart".
[[nodiscard]] std::string line_of(const cluster_event& event);
[[nodiscard]] nlohmann::ordered_json document_of(const cluster_event& event);

/// JSON text, in which what is no UTF-8 is replaced.
[[nodiscard]] std::string finished(const nlohmann::ordered_json& document, int indent = 2);

} // namespace troupe::tools
