// The entities of a cluster, as one member sees them.
#pragma once

#include <chrono>
#include <cstddef>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <caf/actor.hpp>
#include <caf/fwd.hpp>

#include <troupe/framework/cluster/cluster_member.hpp>
#include <troupe/framework/cluster/directory.hpp>
#include <troupe/framework/cluster/entity.hpp>
#include <troupe/framework/cluster/internal/entities/entity_routes.hpp>
#include <troupe/framework/cluster/internal/entities/quiet_watch.hpp>
#include <troupe/framework/cluster/internal/entities/shard_runner.hpp>
#include <troupe/framework/cluster/internal/entities/work_threads.hpp>
#include <troupe/framework/cluster/internal/membership/cluster_view.hpp>
#include <troupe/framework/cluster/internal/membership/lease_keeper.hpp>

namespace troupe::membership {

/// Hosts kinds of entities, and keeps the ways to the entities of all kinds up to date.
///
/// Threads: any.
class entity_office {
public:
  /// Makes a handle on demand to the region of that name at that member.
  using dialer = std::function<std::expected<caf::actor, node_error>(const cluster_member& of, const std::string& name,
                                                                     std::function<void(lasting_event::kind)> tell)>;

  struct parts {
    caf::actor_system& system;
    std::shared_ptr<directory> where;
    std::string self; // This member's name.
    std::vector<std::string> roles;
    std::function<held_lease()> lease;
    std::chrono::milliseconds margin;
    /// Calls the function with the view, between two batches of changes.
    std::function<void(const std::function<void(const cluster_view&)>&)> between_batches;
    std::function<void(const std::function<void(const cluster_view&)>&)> with_view;
    /// Publishes a kind's region on the node, or withdraws it.
    std::function<std::expected<void, node_error>(const std::string& name, const caf::actor& region)> publish;
    std::function<void(const std::string& name)> unpublish;
    /// Tells the other members whether this one takes shards.
    std::function<void(const std::string& name, bool is_host)> announce;
    std::function<void(const std::string& about, std::string text)> problem;
  };

  explicit entity_office(parts of);
  entity_office(const entity_office&) = delete;
  entity_office& operator=(const entity_office&) = delete;
  ~entity_office() = default; // After close().

  /// Gives every shard up, and passes on what waits and what still comes, until then or for 250 ms. Afterwards nothing
  /// else is called.
  void close(std::chrono::steady_clock::time_point until);

  /// From now on this member hosts the kind. Fails with `invalid_argument`, and with why the directory does not answer.
  [[nodiscard]] std::expected<void, directory_error> host(const std::string& kind,
                                                          std::function<caf::actor(const entity_context&)> make,
                                                          entity_options options, dialer dial);
  [[nodiscard]] std::shared_ptr<entity_routes> routes(std::string kind, pool_options pool, dialer dial);

  /// Between two batches, after the view has changed.
  void take(const cluster_view::events& events, const cluster_view& view);
  /// The lease has changed.
  void wake();
  /// True: gives every shard up, in order, and takes no more. False: takes shards again.
  void withdraw(bool is_wanted);
  /// Kinds that this member hosts, with the number of entities that run here.
  [[nodiscard]] std::vector<std::pair<std::string, std::size_t>> hosted() const;

private:
  static constexpr unsigned threads_each = 4;
  /// Options of a pool, as far as those of entities differ.
  using route_options =
      std::tuple<std::size_t, std::chrono::milliseconds, std::chrono::milliseconds, bool, std::size_t>;

  /// What runs on after the office has ended, on the threads of entities, asks here.
  struct outlet {
    std::mutex mutex;
    std::function<void(const std::string& about, std::string text)> problem; // Guarded by mutex. Empty: it has ended.
    work_threads making{threads_each};
    work_threads saving{threads_each};

    void tell(const std::string& about, std::string text);
  };
  struct host_of_kind {
    std::shared_ptr<entity_routes> passing; // For messages to shards that are not here.
    std::unique_ptr<entity_region> region;
    std::unique_ptr<shard_runner> runner;
  };

  [[nodiscard]] std::expected<void, directory_error> settle_shards(const std::string& kind, std::size_t shards);
  [[nodiscard]] std::shared_ptr<entity_routes> add_routes(std::string kind, pool_options pool, dialer dial,
                                                          std::function<void(std::uint32_t)> on_drained);
  void pass_late_messages(const std::map<std::string, std::shared_ptr<host_of_kind>>& of,
                          std::chrono::steady_clock::time_point until) const;
  /// Between two batches.
  void lead(const std::string& kind, const cluster_view& view);

  const parts of_;

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::map<std::string, std::shared_ptr<host_of_kind>> hosts_; // By kind.
  std::vector<std::shared_ptr<entity_routes>> passing_;
  std::map<std::pair<std::string, route_options>, std::shared_ptr<entity_routes>> routes_; // By kind and options.
  bool is_withdrawn_ = false;
  std::mutex adding_; // Held while a program's routes are added; before mutex_.

  const std::shared_ptr<quiet_watch> late_ = std::make_shared<quiet_watch>(); // Shared with the regions.
  const std::shared_ptr<outlet> outlet_ = std::make_shared<outlet>();
};

} // namespace troupe::membership
