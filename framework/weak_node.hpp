// A node's totals, and a reference to a node that does not keep it alive.
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
  std::string name; // The name that the node was opened with.
  /// The sums over all links, open and ended. Current values in link_stats are those of the open links.
  link_stats links;
  std::uint64_t links_open = 0;
  std::uint64_t links_opened = 0;      // So far, including the open links.
  std::uint64_t peers_refused = 0;     // In the handshake, whichever end dialed.
  std::uint64_t dead_letters = 0;      // Sent to the actor of node::dead_letters.
  std::uint64_t dead_letters_lost = 0; // Not sent to it: too many waited for it, or they were about its own messages.
  std::uint64_t names_published = 0;
};

/// A reference to a node that does not keep it alive. It serves code that shows the statistics of a node that it does
/// not own.
///
/// Threads: any. Lifetime: may outlive the node and the actor system. It keeps neither alive.
class TROUPE_EXPORT weak_node {
public:
  explicit weak_node(std::weak_ptr<internal::node_core> core) : core_(std::move(core)) {}

  /// Returns nullopt once the node has begun to end.
  [[nodiscard]] std::optional<node_stats> stats() const;

  /// Returns the open links; none once the node has begun to end.
  [[nodiscard]] std::vector<link> links() const;

  /// Returns how many requests of peers the actors of this node have and have not answered; nullopt once the node has
  /// begun to end.
  [[nodiscard]] std::optional<std::uint64_t> unanswered_requests() const;

private:
  std::weak_ptr<internal::node_core> core_;
};

} // namespace troupe
