#include <troupe/framework/weak_node.hpp>

#include <troupe/framework/internal/link/node_link.hpp>
#include <troupe/framework/internal/node/node_core.hpp>

namespace troupe {

std::optional<node_stats> weak_node::stats() const {
  auto core = core_.lock();
  if (!core || core->links().is_closed())
    return std::nullopt;
  return core->stats();
}

std::vector<link> weak_node::links() const {
  std::vector<link> result;
  if (auto core = core_.lock(); core && !core->links().is_closed())
    for (auto& open : core->links().open())
      result.emplace_back(std::move(open));
  return result;
}

std::optional<std::uint64_t> weak_node::unanswered_requests() const {
  const auto core = core_.lock();
  if (!core || core->links().is_closed())
    return std::nullopt;
  std::uint64_t all = 0;
  for (const auto& each : core->links().open())
    all += each->unanswered_requests();
  return all;
}

} // namespace troupe
