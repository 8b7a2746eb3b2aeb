// Children that are actors: spawned by a function, or in a peer.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include <troupe/framework/internal/supervision/child_kind.hpp>
#include <troupe/framework/link.hpp>
#include <troupe/framework/spawn_request.hpp>

namespace troupe::internal {

/// Children that a function spawns in this process.
[[nodiscard]] std::shared_ptr<const child_kind> local_kind(std::function<caf::actor(caf::actor_system&)> spawn);

using link_source = std::function<std::optional<link>()>;
using remote_spawn = std::function<spawn_request<caf::actor>(const link&)>;

/// Children that are spawned over a link.
[[nodiscard]] std::shared_ptr<const child_kind> remote_kind(link_source current, remote_spawn spawn);

} // namespace troupe::internal
