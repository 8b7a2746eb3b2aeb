// Leads the messages of one service to the members that provide it.
#pragma once

#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <caf/actor.hpp>
#include <caf/actor_control_block.hpp>

#include <troupe/framework/cluster/cluster_member.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/framework/pool.hpp>

namespace troupe::membership {

/// Gives a pool the handles of a service's providers, as far as their actors are found. So a message waits in the pool,
/// where it can go to any provider, and not for a provider that is away.
///
/// Threads: any.
class service_route {
public:
  /// Makes a lasting handle to the actor of `name` at the member. It tells `is_found` of each change.
  using handle_maker = std::function<std::expected<caf::actor, node_error>(
      const cluster_member&, const std::string& name, std::function<void(bool is_found)> is_found)>;
  struct here {
    std::string member; // The name of this process's member.
    std::string host;
  };

  /// `name` is what the actors are published as.
  service_route(caf::actor_system& system, std::string name, bool prefers_near, here self, const actor_pool& pool,
                handle_maker make);

  [[nodiscard]] const std::string& name() const noexcept;

  /// False once nothing refers to the pool any more.
  [[nodiscard]] bool is_wanted() const;

  /// From now on these members provide the service; `own` is the actor of this process, if it is one of them.
  void lead_to(const std::vector<cluster_member>& providers, const std::optional<caf::actor>& own);

private:
  class state;

  std::shared_ptr<state> state_; // Shared with the handles' events.
};

} // namespace troupe::membership
