// The gateway's own node as the source of a view.
#pragma once

#include <string>

#include <troupe/framework/gateway/internal/words/random_id.hpp>
#include <troupe/framework/gateway/view.hpp>
#include <troupe/framework/node.hpp>

namespace troupe::web {

/// Shows one node of this process.
///
/// Threads: as for view_source. Lifetime: the node must outlive it and must not be moved meanwhile.
class own_node final : public view_source {
public:
  own_node(node& of, bool takes_orders) : node_(of), takes_orders_(takes_orders) {}

  [[nodiscard]] view_snapshot look(std::chrono::milliseconds timeout) override;
  [[nodiscard]] memory_summary memory(std::chrono::milliseconds timeout) override;
  [[nodiscard]] std::vector<viewed_activity> activity(std::chrono::milliseconds timeout) override;
  [[nodiscard]] bool takes_orders() const override { return takes_orders_; }
  [[nodiscard]] std::expected<void, node_error> act(const view_order& given, const std::string& by,
                                                    std::chrono::milliseconds timeout) override;

private:
  node& node_;
  const bool takes_orders_;
  const std::string key_ = "own-" + random_id(); // An order for the node that was here before must not reach this one.
  activity_query after_;                         // What has not been told yet.
};

} // namespace troupe::web
