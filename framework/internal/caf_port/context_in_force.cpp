#include <troupe/framework/internal/caf_port/context_in_force.hpp>

#include <utility>

#include <caf/local_actor.hpp>

#include <troupe/framework/internal/caf_port/annotated_message.hpp>
#include <troupe/framework/internal/caf_port/asker.hpp>
#include <troupe/framework/internal/traces/in_use.hpp>
#include <troupe/framework/tracing.hpp>

namespace troupe::internal {

constinit thread_local context_of_thread context_here;

namespace {

/// The trace of context_here.message.
std::shared_ptr<const traced_hop>& trace_here() noexcept {
  thread_local std::shared_ptr<const traced_hop> trace;
  return trace;
}

struct open_actor : caf::local_actor {
  static constexpr auto current_element = &open_actor::current_element_;
};

/// Whether the actor is handling the message. If the actor has skipped the message here and runs on another thread by
/// now, this reads what that thread writes; therefore the read is atomic, and the message is only compared.
bool is_handling(const caf::local_actor& actor, const caf::mailbox_element* message) noexcept {
  return __atomic_load_n(&(actor.*open_actor::current_element), __ATOMIC_RELAXED) == message;
}

const trace_context* context_of_request(const caf::strong_actor_ptr& sender) noexcept {
  const auto* const asking = as_asker(sender);
  const auto* const context = asking != nullptr ? asking->context() : nullptr;
  return context != nullptr && context->trace ? &*context->trace : nullptr;
}

/// The context of the message that the actor of this thread handles.
const trace_context* context_of_current(const caf::local_actor& self) noexcept {
  const auto* const current = const_cast<caf::local_actor&>(self).current_mailbox_element();
  const auto* const notes = current != nullptr ? notes_of(*current) : nullptr;
  return notes != nullptr && notes->trace ? &notes->trace->context() : nullptr;
}

} // namespace

void enter_context(handled_message now) noexcept {
  context_here.message = now.message;
  context_here.actor = now.actor;
  trace_here() = std::move(now.trace);
}

void enter_blocking(const caf::local_actor& actor) noexcept {
  context_here.blocking = &actor;
  context_here.blocking_id = actor.id();
}

bool is_in_context(const caf::mailbox_element* message, const traced_hop& trace) noexcept {
  return context_here.message == message && trace_here().get() == &trace;
}

void leave_context(const caf::mailbox_element* message) noexcept {
  if (context_here.message != message)
    return;
  context_here.message = nullptr;
  trace_here() = nullptr;
}

const trace_context* context_for_message_of(const caf::strong_actor_ptr& sender, bool is_request) noexcept {
  if (context_here.is_scoped)
    return context_here.scoped;
  if (!sender)
    return nullptr;
  // A destroyed message, at whose address there may be another one by now, has a trace that has ended.
  if (context_here.message != nullptr && context_here.actor == sender->get() && !trace_here()->has_ended()
      && is_handling(*context_here.actor, context_here.message))
    return &trace_here()->context();
  if (context_here.blocking != nullptr && context_here.blocking == sender->get()
      && context_here.blocking_id == sender->id())
    if (const auto* its = context_of_current(*context_here.blocking))
      return its;
  return is_request ? context_of_request(sender) : nullptr;
}

const trace_context* context_of_handler(const caf::local_actor& self) noexcept {
  if (context_here.is_scoped)
    return context_here.scoped;
  if (const auto* its = context_of_current(self))
    return its;
  const auto* const current = const_cast<caf::local_actor&>(self).current_mailbox_element();
  return current != nullptr ? context_of_request(current->sender) : nullptr;
}

scoped_context::scoped_context(const trace_context* context) noexcept
    : before_(context_here.scoped), was_set_(context_here.is_scoped) {
  use_contexts();
  context_here.scoped = context;
  context_here.is_scoped = true;
}

scoped_context::~scoped_context() {
  context_here.scoped = before_;
  context_here.is_scoped = was_set_;
}

} // namespace troupe::internal
