// What `troupe view` shows: nodes that are asked again and again, each over one link.
#pragma once

#include "nodes/client.hpp"
#include "view/call_pool.hpp"

#include <troupe/framework/gateway/view.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
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
/// All nodes are asked at once. A look waits for those that answered last time, at most for `patience`. Of the others
/// it takes what has come meanwhile, and the last figures with their age.
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
  static constexpr std::chrono::milliseconds patience{500};
  /// A node whose answer takes longer is shown as silent.
  static constexpr std::chrono::milliseconds slow_max{1'000};

  /// `by` must outlive this object.
  watched_nodes(client& by, settings asked);

  [[nodiscard]] view_snapshot look(std::chrono::milliseconds timeout) override;
  [[nodiscard]] memory_summary memory(std::chrono::milliseconds timeout) override;
  [[nodiscard]] std::vector<viewed_activity> activity(std::chrono::milliseconds timeout) override;
  [[nodiscard]] bool takes_orders() const override { return asked_.takes_orders; }
  [[nodiscard]] std::expected<void, node_error> act(const view_order& given, const std::string& by,
                                                    std::chrono::milliseconds timeout) override;

private:
  using clock = std::chrono::steady_clock;
  using time = clock::time_point;

  struct watched {
    watched_address at;
    viewed_node shown;
    std::optional<link> over;              // To the node that `shown` describes.
    activity_query after = {};             // What it has not told yet.
    bool is_listed = true;                 // Found by the last look.
    bool is_none_of_ours = false;          // A process of another user has a socket of such a name.
    bool is_asked = false;                 // An answer is awaited.
    std::optional<time> answered = {};     // Last.
    std::optional<time> silent_since = {}; // The first question after it.
    std::optional<time> unlisted_since = {};
  };
  using watched_pointer = std::shared_ptr<watched>;
  struct ended_node {
    viewed_node shown;
    time since;
  };

  void find(std::vector<std::string>& problems);
  void ask(const watched_pointer& whom, std::chrono::milliseconds timeout);
  void take(watched& whom, const link& over, node_report report, time asked);
  void fail(watched& whom, const node_error& why, bool is_none_of_ours);
  void wait_for(const std::vector<watched_pointer>& known, const std::vector<watched_pointer>& fresh,
                std::chrono::milliseconds timeout, std::unique_lock<std::mutex>& guard);
  static void note_state(watched& whom);
  void told(const watched& by, const node_activity& what);
  void leave_out_twins();
  [[nodiscard]] viewed_cluster cluster() const;
  [[nodiscard]] std::vector<watched_pointer> open_nodes() const;

  client& client_;
  const settings asked_;
  mutable std::mutex mutex_; // Guards what follows, and all that the pointers point to.
  std::condition_variable answered_;
  std::map<std::string, watched_pointer> nodes_; // By address.
  std::vector<ended_node> ended_;                // Others came to their addresses.
  call_pool calls_;                              // Last: its calls use what is above.
};

} // namespace troupe::tools
