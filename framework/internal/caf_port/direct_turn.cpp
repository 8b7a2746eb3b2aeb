#include <troupe/framework/internal/caf_port/direct_turn.hpp>

#include <caf/intrusive/task_result.hpp>
#include <caf/logger.hpp>

namespace troupe::internal {

namespace {

/// Handles messages one after the other, like CAF's own mailbox visitor.
struct message_handler {
  caf::scheduled_actor& actor;
  const std::size_t messages_max;
  std::size_t handled = 0;

  caf::intrusive::task_result operator()(caf::mailbox_element& message) {
    switch (actor.reactivate(message)) {
    case caf::scheduled_actor::activation_result::terminated:
      return caf::intrusive::task_result::stop;
    case caf::scheduled_actor::activation_result::success:
      return ++handled < messages_max ? caf::intrusive::task_result::resume : caf::intrusive::task_result::stop_all;
    case caf::scheduled_actor::activation_result::skipped:
      return caf::intrusive::task_result::skip;
    default:
      return caf::intrusive::task_result::resume;
    }
  }
};

bool has_streams(caf::scheduled_actor& actor) {
  return !actor.stream_managers().empty() || !actor.pending_stream_managers().empty();
}

/// Whether the actor has only ordinary messages.
bool is_simple(caf::scheduled_actor& actor) {
  actor.mailbox().fetch_more();
  return actor.get_urgent_queue().empty() && actor.get_upstream_queue().empty() && actor.get_downstream_queue().empty()
         && !has_streams(actor);
}

} // namespace

caf::resumable::resume_result run_turn(caf::scheduled_actor& actor, caf::execution_unit& context,
                                       std::size_t messages_max) {
  constexpr std::size_t messages_per_round = 8; // Between two checks for urgent ones.
  if (!is_simple(actor))
    return actor.resume(&context, messages_max);
  CAF_PUSH_AID(actor.id());
  if (!actor.activate(&context))
    return caf::resumable::done;
  auto& messages = actor.get_normal_queue();
  message_handler handler{actor, messages_max};
  for (;;) {
    messages.new_round(messages_per_round, handler);
    if (actor.finalize())
      return caf::resumable::done;
    const auto goes_on = handler.handled < messages_max;
    if (goes_on && is_simple(actor) && !messages.empty())
      continue;
    if (handler.handled > 0)
      actor.set_receive_timeout();
    if (actor.mailbox().try_block())
      return caf::resumable::awaiting_message;
    if (!goes_on)
      return caf::resumable::resume_later;
    if (!is_simple(actor))
      return actor.resume(&context, messages_max - handler.handled);
  }
}

} // namespace troupe::internal
