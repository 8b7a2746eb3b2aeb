// The actors by which the peer serves this node.
#pragma once

#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <typeindex>

#include <troupe/framework/internal/caf_port/actor_handles.hpp>
#include <troupe/framework/internal/caf_port/actor_systems.hpp>

#include <troupe/framework/internal/link/actor_names.hpp>
#include <troupe/framework/internal/link/link_common.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/serializers/type_registry.hpp>

namespace troupe::internal {

/// Finds the actors by which the peer serves this node.
///
/// Threads: the I/O thread for `open`, any for the rest.
class peer_helpers {
public:
  /// `types` and `actors` must outlive this object.
  peer_helpers(const link_common& link, caf::actor_system& system, const type_registry& types, actor_names& actors)
      : link_(link), system_(system), types_(types), actors_(actors) {}

  /// Imports the actors that the agreed terms name.
  std::expected<void, node_error> open();

  /// Returns the peer's actor that runs that function, and sets `name` to the function's name. If there is none,
  /// returns an actor that answers with the reason.
  [[nodiscard]] caf::actor task_runner_of(std::type_index function, std::string& name) const;
  /// Returns the peer's actor that spawns actors. If there is none, returns an actor that answers with the reason.
  [[nodiscard]] caf::actor spawner() const;
  /// As spawner(), for the peer's actor that answers queries about its node.
  [[nodiscard]] caf::actor inspector() const;

  /// How many of the peer's helpers are known, and referred to only here; nullopt if something else refers to one.
  [[nodiscard]] std::optional<std::size_t> unshared(const link_held&) const;

  /// Drops the actors because the link has ended.
  void end();

private:
  struct helpers {
    caf::strong_actor_ptr runner; // Proxies; null if the peer does not offer the service.
    caf::strong_actor_ptr spawner;
    caf::strong_actor_ptr inspector;
  };

  [[nodiscard]] caf::actor helper(caf::strong_actor_ptr helpers::*which, std::string_view refuses,
                                  std::string_view option, std::string_view without_role) const;

  const link_common& link_;
  caf::actor_system& system_;
  const type_registry& types_;
  actor_names& actors_;
  helpers known_; // Guarded by the link's lock.
};

} // namespace troupe::internal
