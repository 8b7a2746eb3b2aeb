// An actor's turn on the thread that has received its messages.
#pragma once

#include <cstddef>

#include <caf/execution_unit.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/resumable.hpp>
#include <caf/scheduled_actor.hpp>

namespace troupe::internal {

/// Claims an actor that is idle. No other thread runs it until it has been run. Returns false if it is not idle.
/// Requires: ordinary_actors knows the actor.
[[nodiscard]] inline bool claim(caf::scheduled_actor& actor) noexcept {
  return actor.mailbox().try_unblock();
}

/// Gives the actor a message, after all messages that were sent to it before. Requires: the caller has claimed the
/// actor, and the message is ordinary, neither urgent nor of a stream.
inline void give(caf::scheduled_actor& actor, caf::mailbox_element_ptr message) {
  actor.mailbox().fetch_more();
  actor.get_normal_queue().push_back(message.release());
}

/// Does the same as caf::scheduled_actor::resume, but faster for an actor that has mostly ordinary messages. It does
/// not read the clock, and does not visit the other queues for every third message. Requires: ordinary_actors knows the
/// actor, and this is its turn.
[[nodiscard]] caf::resumable::resume_result run_turn(caf::scheduled_actor& actor, caf::execution_unit& context,
                                                     std::size_t messages_max);

} // namespace troupe::internal
