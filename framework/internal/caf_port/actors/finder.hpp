// Lookups of actors by ordinary requests.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>

#include <caf/actor.hpp>
#include <caf/actor_control_block.hpp>
#include <caf/actor_system.hpp>
#include <expected>

#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// Receives the result of a lookup, once, on any thread.
using on_lookup = std::function<void(std::expected<caf::strong_actor_ptr, node_error>)>;

/// An actor that answers each request with the result of `look_up`: a caf::strong_actor_ptr or an error. It runs no
/// handler. The thread that sends the request calls `look_up`, which must not block.
[[nodiscard]] caf::actor make_finder(caf::actor_system& system, std::function<void(on_lookup)> look_up);

} // namespace troupe::internal
