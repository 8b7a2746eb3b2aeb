// The values of objects as answers to ordinary requests.
#pragma once

#include <chrono>
#include <optional>

#include <caf/actor.hpp>
#include <caf/actor_system.hpp>

#include <troupe/base/export.hpp>
#include <troupe/framework/internal/caf_port/actors/value_kind.hpp>
#include <troupe/framework/object_ref.hpp>

namespace troupe::internal {

/// An actor that answers each request with the value of the object, or an error. Runs no handler: the fetch begins
/// where the request is sent; the bytes become a value where the answer is handled. The asker is kept until it is
/// answered; the fetch of an asker that ends meanwhile is cancelled.
[[nodiscard]] TROUPE_EXPORT caf::actor make_fetcher(caf::actor_system& system, object_state_ptr state,
                                                    const value_kind& kind,
                                                    std::optional<std::chrono::milliseconds> within);

} // namespace troupe::internal
