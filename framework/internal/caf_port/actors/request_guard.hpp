// The sender of one request within this process, which answers it if nobody else does.
#pragma once

#include <troupe/framework/internal/caf_port/event_actors.hpp>
#include <troupe/framework/internal/caf_port/messages.hpp>

namespace troupe::internal {

/// Stands for the sender of a request. CAF does not report when a response promise is dropped. But a promise refers to
/// the sender. So if the guard of an unanswered request is destroyed, no actor can answer it any more, and the guard
/// sends the error `broken_promise`. (asker.hpp does the same for requests of other nodes.)
[[nodiscard]] caf::strong_actor_ptr make_request_guard(caf::actor_system& system, caf::strong_actor_ptr sender,
                                                       caf::message_id request);

} // namespace troupe::internal
