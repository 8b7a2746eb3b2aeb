// The nodes that have connected, and the token that identifies each.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include <troupe/framework/internal/handles/messages.hpp>

namespace troupe::internal {

/// Remembers the token of each node. So another node of the same name does not get the objects of a node whose link was
/// lost.
class known_nodes {
public:
  using time_point = std::chrono::nanoseconds;

  /// Returns false if the node was here before and now shows another token.
  [[nodiscard]] bool recognizes(const handles::node_name& who, std::span<const std::byte> token, time_point now) {
    if (nodes_.size() >= nodes_max)
      std::erase_if(nodes_, [&](const auto& each) { return now - each.second.seen > kept; });
    const auto [known, is_new] = nodes_.try_emplace(who, node{{token.begin(), token.end()}, now});
    if (!is_new && !std::ranges::equal(known->second.token, token))
      return false;
    known->second.seen = now;
    return true;
  }

  [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }

  /// Above `nodes_max` nodes, those not seen for `kept` are forgotten.
  static constexpr std::size_t nodes_max = 4096;
  static constexpr auto kept = std::chrono::minutes{10};

private:
  struct node {
    std::vector<std::byte> token;
    time_point seen{};
  };
  std::map<handles::node_name, node> nodes_;
};

} // namespace troupe::internal
