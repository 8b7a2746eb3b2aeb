// Objects' values as answers to ordinary requests.
#pragma once

#include <chrono>
#include <optional>

#include <caf/actor.hpp>
#include <caf/actor_system.hpp>

#include <troupe/base/export.hpp>
#include <troupe/framework/internal/caf_port/actors/value_kind.hpp>
#include <troupe/framework/object_ref.hpp>

namespace troupe::internal {

/// An actor that answers each request with the value of the object, or an error. It runs no handler. The thread that
/// sends the request starts the fetch, and reads an object of this host's store from disk itself. The thread that
/// handles the answer decodes the bytes. The asker is kept alive until it is answered. If it ends before, its fetch is
/// cancelled.
[[nodiscard]] TROUPE_EXPORT caf::actor make_fetcher(caf::actor_system& system, object_state_ptr state,
                                                    const value_kind& kind,
                                                    std::optional<std::chrono::milliseconds> within);

} // namespace troupe::internal
