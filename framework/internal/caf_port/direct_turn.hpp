// An actor's turn on the thread that has received its messages.
#pragma once

#include <cstddef>

#include <caf/execution_unit.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/resumable.hpp>
#include <caf/scheduled_actor.hpp>

namespace troupe::internal {

/// Claims an actor that waits for messages: nobody else runs it until it has been run. False where it does not wait.
/// Requires: ordinary_actors knows it.
[[nodiscard]] inline bool claim(caf::scheduled_actor& actor) noexcept {
  return actor.mailbox().try_unblock();
}

/// Gives it a message, behind all that others have sent before. Requires: claimed by the caller; an ordinary message,
/// neither urgent nor of a stream.
inline void give(caf::scheduled_actor& actor, caf::mailbox_element_ptr message) {
  actor.mailbox().fetch_more();
  actor.get_normal_queue().push_back(message.release());
}

/// What caf::scheduled_actor::resume does, for an actor that has mostly ordinary messages: no look at the clock and no
/// round through its other queues for every third of them. Requires: ordinary_actors knows it, and this is its turn.
[[nodiscard]] caf::resumable::resume_result run_turn(caf::scheduled_actor& actor, caf::execution_unit& context,
                                                     std::size_t messages_max);

} // namespace troupe::internal
