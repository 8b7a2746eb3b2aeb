// For actors that send much. Tells whether the link of a remote actor has room, and notifies an actor when it has room
// again.
#pragma once

#include <caf/actor.hpp>
#include <caf/actor_cast.hpp>
#include <caf/actor_control_block.hpp>
#include <caf/allowed_unsafe_message_type.hpp>

#include <troupe/base/export.hpp>

namespace troupe {

/// The message that `notify_when_ready` sends. `receiver` is null if nothing refers to the receiver any more.
struct link_ready {
  caf::actor receiver;
};

namespace internal {

[[nodiscard]] TROUPE_EXPORT bool is_ready(const caf::strong_actor_ptr& receiver);
TROUPE_EXPORT void notify_when_ready(const caf::strong_actor_ptr& who, const caf::strong_actor_ptr& receiver);

} // namespace internal

/// Whether at least half of this end's queue for `receiver` is free (link_options::actor_queue_bytes), so that a
/// message finds room. The call reserves nothing: other senders may be told of the same room. Always true for local
/// actors. False if the link is down.
///
/// Threads: any, also in handlers.
template <class Handle>
[[nodiscard]] bool is_ready(const Handle& receiver) {
  return internal::is_ready(caf::actor_cast<caf::strong_actor_ptr>(receiver));
}

/// Sends one `link_ready` to the actor `who` as soon as `is_ready(receiver)` is true or the link has ended. If the
/// receiver is local, sends it at once. Messages after the end of the link fail with its reason. The library keeps
/// `who` alive until it has sent the `link_ready`. A streaming actor sends while `is_ready` is true, then calls this
/// function, and continues when the `link_ready` arrives.
///
/// Threads: any, also in handlers.
template <class Who, class Handle>
void notify_when_ready(const Who& who, const Handle& receiver) {
  internal::notify_when_ready(caf::actor_cast<caf::strong_actor_ptr>(who),
                              caf::actor_cast<caf::strong_actor_ptr>(receiver));
}

} // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::link_ready)
