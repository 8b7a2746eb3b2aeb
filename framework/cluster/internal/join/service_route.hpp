// Leads the messages of one service to the members that provide it.
#pragma once

#include <cstddef>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <caf/actor.hpp>
#include <caf/actor_control_block.hpp>

#include <troupe/framework/cluster/cluster_member.hpp>
#include <troupe/framework/lasting.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/framework/pool.hpp>

namespace troupe::membership {

/// Gives a pool the handles of a service's providers, unless they are known to be out of reach. So a message waits in
/// the pool, where it can go to any provider, and not for a provider that is away.
///
/// Handles to providers begin as `asleep` if they are made on demand, and otherwise as `out`.
///
/// Threads: any.
class service_route {
public:
  /// Makes a lasting handle to the actor of `name` at the member. It tells of each change.
  using handle_maker = std::function<std::expected<caf::actor, node_error>(
      const cluster_member&, const std::string& name, std::function<void(lasting_event::kind)> tell)>;
  struct here {
    std::string member; // The name of this process's member.
    std::string host;
  };
  struct terms {
    std::string name; // What the actors are published as.
    bool prefers_near = false;
    bool is_on_demand = false;    // As the handles that `make` makes.
    std::size_t members_most = 0; // How many other members are used, 0 for all. Requires: is_on_demand.
    here self;
    handle_maker make;
    handle_maker make_teller =
        {}; // For the handles to tellers of load; empty: no load is asked. Requires: is_on_demand.
  };

  service_route(caf::actor_system& system, terms its, const actor_pool& pool);

  [[nodiscard]] const std::string& name() const noexcept;

  /// From now on these members provide the service; `own` is the actor of this process, if it is one of them.
  void lead_to(const std::vector<cluster_member>& providers, const std::optional<caf::actor>& own);

private:
  class state;

  std::shared_ptr<state> state_; // Shared with the handles' events.
};

} // namespace troupe::membership
