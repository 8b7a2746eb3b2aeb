// Lookups of actors as ordinary requests.
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

/// What a lookup gives, once; on any thread.
using on_lookup = std::function<void(std::expected<caf::strong_actor_ptr, node_error>)>;

/// An actor that answers each request with what `look_up` gives: a caf::strong_actor_ptr or an error. Runs no handler:
/// `look_up` is called where the request is sent, and must not block.
[[nodiscard]] caf::actor make_finder(caf::actor_system& system, std::function<void(on_lookup)> look_up);

} // namespace troupe::internal
