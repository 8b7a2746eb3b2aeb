#include <troupe/framework/lasting.hpp>

#include <troupe/framework/internal/caf_port/actor_pointers.hpp>
#include <troupe/framework/internal/caf_port/exactly.hpp>
#include <troupe/framework/internal/lasting/lasting_actor.hpp>

namespace troupe {

void wake(const caf::actor& lasting_handle) {
  if (const auto* const actor =
          internal::exactly<internal::lasting_actor>(caf::actor_cast<caf::abstract_actor*>(lasting_handle)))
    actor->wake();
}

node_error absence_of(const caf::actor& lasting_handle) {
  if (const auto* const actor =
          internal::exactly<internal::lasting_actor>(caf::actor_cast<caf::abstract_actor*>(lasting_handle)))
    return actor->problem();
  return {node_errc::none, {}};
}

} // namespace troupe
