// Which trace context is in force on a thread, so that a message takes it along although CAF's send has no place for
// it.
#pragma once

#include <memory>

#include <caf/fwd.hpp>
#include <caf/mailbox_element.hpp>

#include <troupe/framework/internal/caf_port/actor_pointers.hpp>
#include <troupe/framework/internal/traces/traced_hop.hpp>

namespace troupe::internal {

/// A message with a context whose handling has begun on this thread.
struct handled_message {
  const caf::mailbox_element* message = nullptr;
  const caf::local_actor* actor = nullptr;
  std::shared_ptr<const traced_hop> trace = nullptr;
};

/// What is in force on this thread. Without destructors, so that looking costs no guard.
struct context_of_thread {
  const trace_context* scoped = nullptr;
  bool is_scoped = false;
  const caf::mailbox_element* message = nullptr; // Whose handling has begun here; null: none with a context.
  const caf::local_actor* actor = nullptr;
  const caf::local_actor* blocking = nullptr; // The last blocking actor that got a message with a context here.
  caf::actor_id blocking_id = 0;
};
extern constinit thread_local context_of_thread context_here;

/// Whether context_for_message_of() may return a context for a message that is no request. Cheap.
[[nodiscard]] inline bool may_have_context() noexcept {
  return context_here.is_scoped || context_here.message != nullptr || context_here.blocking != nullptr;
}

/// The message's context is in force from now on, while its actor handles it. Replaces that of another message.
void enter_context(handled_message now) noexcept;
/// A blocking actor, which always runs on this thread, looks at a message with a context. It may skip the message, also
/// within the handler of another one, so its current message decides each time.
void enter_blocking(const caf::local_actor& actor) noexcept;
/// Compares the trace as well, because another message may have the address of one that is gone.
[[nodiscard]] bool is_in_context(const caf::mailbox_element* message, const traced_hop& trace) noexcept;
/// The message is being destroyed.
void leave_context(const caf::mailbox_element* message) noexcept;

/// The context for a message from `sender` that is being sent on this thread; null if there is none. It is that of
/// scoped_context, that of the message which `sender` handles on this thread, or that of the request in whose name it
/// is sent (delegated). Lifetime: until the sender's handler returns.
[[nodiscard]] const trace_context* context_for_message_of(const caf::strong_actor_ptr& sender,
                                                          bool is_request) noexcept;

/// The same for the actor of this thread.
[[nodiscard]] const trace_context* context_of_handler(const caf::local_actor& self) noexcept;

} // namespace troupe::internal
