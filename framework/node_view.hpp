// What a node has done so far, and how to see it without keeping the node.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <troupe/base/export.hpp>
#include <troupe/framework/fwd.hpp>
#include <troupe/framework/link.hpp>

namespace troupe {

struct node_stats {
  std::string name; // As the node was opened with.
  /// The sums over all links that are and were. What link_stats has of the moment is that of the open ones.
  link_stats links;
  std::uint64_t links_open = 0;
  std::uint64_t links_opened = 0;  // So far, those that are open included.
  std::uint64_t peers_refused = 0; // In the handshake, whoever dialed.
  std::uint64_t names_published = 0;
};

/// Sees a node as long as it is there; for what shows its figures and does not own it.
///
/// Threads: any. Lifetime: may outlive the node and the actor system; keeps neither.
class TROUPE_EXPORT node_view {
public:
  explicit node_view(std::weak_ptr<internal::node_core> core) : core_(std::move(core)) {}

  /// Nothing once the node has begun to end.
  [[nodiscard]] std::optional<node_stats> stats() const;

  /// The open links; none once the node has begun to end.
  [[nodiscard]] std::vector<link> links() const;

private:
  std::weak_ptr<internal::node_core> core_;
};

} // namespace troupe
