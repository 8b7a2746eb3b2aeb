// The routes of the services and singletons that this process uses.
#pragma once

#include <functional>
#include <list>
#include <optional>
#include <string>
#include <string_view>

#include <caf/actor.hpp>
#include <caf/fwd.hpp>

#include <troupe/framework/cluster/cluster.hpp>
#include <troupe/framework/cluster/internal/join/service_route.hpp>
#include <troupe/framework/cluster/internal/join/sought.hpp>
#include <troupe/framework/cluster/internal/membership/cluster_view.hpp>
#include <troupe/framework/pool.hpp>

namespace troupe::membership {

/// The options of a pool for the messages of a service, a singleton or of entities. If they are not counted for another
/// reason, `is_counted` says whether the pool counts requests.
[[nodiscard]] pool_options pool_of(const service_options& options, bool is_counted);

/// Keeps each route led to the members that now provide its service, or own its singleton, for as long as somebody can
/// use the route.
///
/// Threads: one at a time.
class service_routes {
public:
  struct parts {
    caf::actor_system& system;
    service_route::here self;
    /// Whether links are made on demand. A read-only directory has no names, so that each member must be asked.
    bool is_on_demand;
    /// This process's own actor, if it is what is sought.
    std::function<std::optional<caf::actor>(const sought& what)> own;
    /// Whether others do this process's work, as far as they can.
    std::function<bool()> is_draining;
  };
  /// Makes the handles of a service, and untyped ones to the tellers of its members' loads.
  struct handle_makers {
    service_route::handle_maker handle;
    service_route::handle_maker teller;
  };

  explicit service_routes(parts of) : of_(std::move(of)) {}

  void add(sought what, const service_options& options, handle_makers make, const actor_pool& pool,
           const cluster_view& view);
  /// This process's own actor of that name has changed.
  void lead_to_name(std::string_view name, const cluster_view& view);
  /// The view has changed.
  void take(const cluster_view::events& events, const cluster_view& view);

private:
  struct leader {
    service_route route;
    sought what;
    actor_pool pool; // Kept for the messages that wait, although nobody may have its handle.

    [[nodiscard]] bool is_in_use() const;
  };

  void lead(leader& of, const cluster_view& view) const;
  void drop_unwanted();

  const parts of_;
  std::list<leader> all_;
};

} // namespace troupe::membership
