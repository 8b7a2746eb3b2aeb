// Converts between CAF's actor handles and the handles of rooms that do not know CAF.
#pragma once

#include <caf/actor_control_block.hpp>

#include <troupe/framework/internal/objects/actor_handle.hpp>

namespace troupe::internal {

inline constexpr actor_handle::counting actor_counting{
    .add = [](void* actor) noexcept { intrusive_ptr_add_ref(static_cast<caf::actor_control_block*>(actor)); },
    .release = [](void* actor) noexcept { intrusive_ptr_release(static_cast<caf::actor_control_block*>(actor)); }};

/// A null actor becomes an empty handle.
[[nodiscard]] inline actor_handle to_handle(caf::strong_actor_ptr actor) noexcept {
  return actor ? actor_handle{actor.detach(), actor_counting} : actor_handle{};
}

[[nodiscard]] inline caf::strong_actor_ptr to_actor(actor_handle handle) noexcept {
  return {static_cast<caf::actor_control_block*>(handle.release()), false};
}

} // namespace troupe::internal
