// Why actors have ended, as it crosses links.
#pragma once

#include <cstdint>

#include <caf/error.hpp>

#include <troupe/framework/internal/wire/admin.hpp>

namespace troupe::internal {

/// What the peer is told of the end of an actor of that number.
[[nodiscard]] down down_of(std::uint64_t number, const caf::error& reason);
/// The reason that the peer has told.
[[nodiscard]] caf::error reason_of(const down& what);
/// That of actors whose node is lost.
[[nodiscard]] caf::error reason_of_lost_node();

} // namespace troupe::internal
