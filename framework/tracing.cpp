#include <troupe/framework/tracing.hpp>

#include <troupe/framework/internal/caf_port/annotated_message.hpp>
#include <troupe/framework/internal/caf_port/context_in_force.hpp>

namespace troupe {

namespace {

std::optional<trace_context> copy_of(const trace_context* context) {
  return context != nullptr ? std::optional{*context} : std::nullopt;
}

} // namespace

std::optional<trace_context> current_context(const caf::local_actor* self) {
  return copy_of(internal::context_of_handler(*self));
}

std::optional<trace_context> current_context() {
  return copy_of(internal::context_for_message_of(nullptr, false));
}

namespace internal {

void enqueue_in_context(const caf::local_actor& self, caf::abstract_actor& receiver, caf::mailbox_element_ptr message,
                        caf::execution_unit* context) {
  if (const auto* trace = context_of_handler(self))
    message = annotate(std::move(message), {.trace = std::make_shared<traced_hop>(*trace)}, &receiver);
  receiver.enqueue(std::move(message), context);
}

} // namespace internal

} // namespace troupe
