// The reasons of actors' ends, as they cross links.
#pragma once

#include <cstdint>

#include <caf/error.hpp>

#include <troupe/framework/internal/wire/admin.hpp>

namespace troupe::internal {

/// The message about the end of actor `number`, for the peer.
[[nodiscard]] down down_of(std::uint64_t number, const caf::error& reason);
/// The reason that the peer's message carries.
[[nodiscard]] caf::error reason_of(const down& what);
/// The reason for actors whose node is lost.
[[nodiscard]] caf::error reason_of_lost_node();

} // namespace troupe::internal
