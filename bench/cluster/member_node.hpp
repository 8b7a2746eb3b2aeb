// A node that joins a cluster, in a measured process.
#pragma once

#include <chrono>
#include <cstddef>
#include <expected>
#include <functional>
#include <optional>
#include <string>

#include <caf/actor_system.hpp>

#include <troupe/framework/cluster/cluster.hpp>
#include <troupe/framework/node.hpp>
#include <troupe/framework/system_config.hpp>

namespace bench {

/// Declared in the order that node.hpp and cluster.hpp require.
///
/// Threads: one at a time. Lifetime: measured processes exit without destroying it, so that the end of the measurement
/// takes no time.
class member_node {
public:
  /// `threads` is the number of the scheduler's threads, 0 for CAF's default.
  explicit member_node(std::size_t threads = 0) : config_(threads) {}

  /// Opens the node `name` without a store, so that a killed process leaves nothing. It listens at a unix socket whose
  /// name contains its process. Fails with a text.
  [[nodiscard]] std::expected<void, std::string> open(const std::string& name);
  /// Requires: the node is open. Blocks as cluster::join does.
  [[nodiscard]] std::expected<void, std::string> join(const std::string& directory, std::chrono::milliseconds lease);
  [[nodiscard]] std::expected<void, std::string> open_and_join(const std::string& name, const std::string& directory,
                                                               std::chrono::milliseconds lease);

  [[nodiscard]] caf::actor_system& system() noexcept { return system_; }
  /// Requires: the node is open.
  [[nodiscard]] troupe::node& node() { return *node_; }
  /// Requires: it has joined.
  [[nodiscard]] troupe::cluster& cluster() { return *cluster_; }

  /// Waits until this member sees that number of members. After a minute, fails with a text.
  [[nodiscard]] std::expected<void, std::string> wait_for_members(std::size_t count);

private:
  struct with_threads : troupe::system_config {
    explicit with_threads(std::size_t threads) {
      if (threads > 0)
        set("scheduler.max-threads", threads);
    }
  };

  troupe::type_registry types_;
  troupe::family_set families_;
  with_threads config_;
  caf::actor_system system_{config_};
  std::optional<troupe::node> node_;
  std::optional<troupe::cluster> cluster_;
};

/// Asks `condition` every millisecond until it holds. Fails with a text if it does not within `patience`.
[[nodiscard]] std::expected<void, std::string> wait_until(const std::function<bool()>& condition,
                                                          const std::string& what,
                                                          std::chrono::milliseconds patience = std::chrono::minutes{1});

} // namespace bench
