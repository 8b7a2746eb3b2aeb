// What `troupe view` shows: nodes that are asked again and again, each over one link.
#pragma once

#include "nodes/client.hpp"

#include <troupe/framework/gateway/view.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe::tools {

/// An address to ask.
struct watched_address {
  local_node where;
  std::string identity = {}; ///< That its node must prove; empty: none.
  std::string member = {};   ///< The member of the cluster that has the address; empty: none.
  bool is_here = false;      ///< Whether the directory says that the member is on this host.
};

class members;

/// Asks nodes over links that it keeps. Nodes that have ended stay for a minute, as lost.
///
/// Threads: as for view_source.
class watched_nodes final : public view_source {
public:
  struct settings {
    std::vector<std::string> addresses; ///< Empty: all of this user's nodes on this host.
    bool takes_orders = false;
    std::shared_ptr<const members> cluster = {}; ///< Null: none.
  };
  static constexpr std::chrono::seconds lost_for{60};

  /// `by` must outlive this object.
  watched_nodes(client& by, settings asked);

  [[nodiscard]] view_snapshot look(std::chrono::milliseconds timeout) override;
  [[nodiscard]] memory_summary memory(std::chrono::milliseconds timeout) override;
  [[nodiscard]] std::vector<viewed_activity> activity(std::chrono::milliseconds timeout) override;
  [[nodiscard]] bool takes_orders() const override { return asked_.takes_orders; }
  [[nodiscard]] std::expected<void, node_error> act(const view_order& given, const std::string& by,
                                                    std::chrono::milliseconds timeout) override;

private:
  struct watched {
    watched_address at;
    viewed_node shown;
    std::optional<link> over;
    activity_query after = {};                     // What it has not told yet.
    bool is_listed = true;                         // Found by the last look.
    bool is_none_of_ours = false;                  // A process of another user has a socket of such a name.
    std::chrono::steady_clock::time_point since{}; // Of being silent or lost.
  };

  void find(std::vector<std::string>& problems);
  void ask(watched& whom, std::chrono::milliseconds timeout) const;
  void leave_out_twins();
  [[nodiscard]] viewed_cluster cluster() const;

  client& client_;
  const settings asked_;
  std::map<std::string, watched> nodes_; // By address.
  std::uint64_t keys_ = 0;
};

} // namespace troupe::tools
