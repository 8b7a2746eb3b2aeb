#include <troupe/framework/deadline.hpp>

#include <caf/mailbox_element.hpp>

#include <troupe/framework/internal/caf_port/annotated_message.hpp>
#include <troupe/framework/internal/caf_port/asker.hpp>
#include <troupe/framework/internal/caf_port/context_in_force.hpp>

namespace troupe {

namespace internal {

void enqueue_request(const caf::local_actor& self, caf::abstract_actor& receiver, caf::mailbox_element_ptr request,
                     std::chrono::steady_clock::time_point deadline, caf::execution_unit* context) {
  message_notes notes{.deadline = deadline};
  if (const auto* trace = context_of_handler(self))
    notes.trace = std::make_shared<traced_hop>(*trace);
  receiver.enqueue(annotate(std::move(request), std::move(notes), &receiver), context);
}

} // namespace internal

std::optional<std::chrono::nanoseconds> deadline(caf::local_actor* self) {
  const auto* const current = self->current_mailbox_element();
  if (current == nullptr)
    return std::nullopt;
  const auto* const notes = internal::notes_of(*current);
  const auto at = notes != nullptr ? notes->deadline : internal::deadline_in_name_of(current->sender);
  if (!at)
    return std::nullopt;
  const auto now = std::chrono::steady_clock::now();
  return std::max(*at, now) - now;
}

} // namespace troupe
