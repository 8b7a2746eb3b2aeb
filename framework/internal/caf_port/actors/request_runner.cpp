#include <troupe/framework/internal/caf_port/actors/request_runner.hpp>

#include <memory>
#include <utility>

#include <caf/actor_system.hpp>
#include <caf/delegated.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/message.hpp>

#include <troupe/framework/internal/caf_port/context_in_force.hpp>
#include <troupe/framework/internal/caf_port/passing_on.hpp>
#include <troupe/framework/node_error.hpp>
#include <troupe/framework/tracing.hpp>

namespace troupe::internal {

namespace {

/// The behavior of an actor that handles one message.
template <class Handle>
caf::behavior once(caf::event_based_actor* self, Handle handle) {
  self->set_default_handler([handle](caf::scheduled_actor* me, caf::message_view& view) -> request_outcome {
    static_cast<caf::event_based_actor*>(me)->quit();
    return handle(view);
  });
  return {[](caf::unit_t) {}}; // Without any behavior the actor would end at once.
}

} // namespace

caf::actor spawn_request_runner(caf::actor_system& system, request_answer answer, request_admission admit,
                                std::function<bool(const caf::message&)> blocks) {
  struct parts {
    request_answer answer;
    request_admission admit;
    std::function<bool(const caf::message&)> blocks;
  };
  auto shared = std::make_shared<const parts>(std::move(answer), std::move(admit), std::move(blocks));
  passes_on(shared.get());
  return system.spawn<caf::hidden>([shared](caf::event_based_actor* self) -> caf::behavior {
    self->set_default_handler([shared](caf::scheduled_actor* me, caf::message_view& view) -> request_outcome {
      std::shared_ptr<void> admission;
      if (shared->admit) {
        auto admitted = shared->admit(me->current_sender());
        if (!admitted)
          return to_caf_error(admitted.error());
        admission = *std::move(admitted);
      }
      // The admission ends with the worker, after its answer has been sent.
      const auto work = [shared, admission](caf::event_based_actor* one) {
        return once(one, [one, shared, admission](caf::message_view& request) {
          takes_over(shared.get());
          const auto* const context = context_of_handler(*one); // What the request delegates.
          const auto scope = context != nullptr ? std::make_unique<scoped_context>(context) : nullptr;
          return shared->answer(request.move_content_to_message(), one->current_sender());
        });
      };
      auto request = view.move_content_to_message();
      auto& home = me->home_system();
      auto worker = shared->blocks && shared->blocks(request) ? home.spawn<caf::detached>(work) : home.spawn(work);
      // Without a context the worker goes to the scheduler, whichever thread runs this.
      caf::actor_cast<caf::abstract_actor*>(worker)->enqueue(me->current_sender(), me->current_message_id(),
                                                             std::move(request), nullptr);
      return caf::delegated<caf::message>();
    });
    return {[](caf::unit_t) {}};
  });
}

caf::actor spawn_refusal(caf::actor_system& system, node_error reason) {
  return system.spawn<caf::hidden>([error = to_caf_error(reason)](caf::event_based_actor* self) {
    return once(self, [error](caf::message_view&) -> request_outcome { return error; });
  });
}

} // namespace troupe::internal
