#include <troupe/framework/deadline.hpp>

#include <caf/mailbox_element.hpp>

#include <troupe/framework/internal/caf_port/timed_request.hpp>

namespace troupe {

namespace internal {

void enqueue_request(caf::abstract_actor& receiver, caf::mailbox_element_ptr request,
                     std::chrono::steady_clock::time_point deadline, caf::execution_unit* context) {
  receiver.enqueue(make_timed_request(std::move(request), deadline, receiver, nullptr), context);
}

} // namespace internal

std::optional<std::chrono::nanoseconds> deadline(caf::local_actor* self) {
  const auto* const current = self->current_mailbox_element();
  const auto at = current != nullptr ? internal::deadline_of(*current) : std::nullopt;
  if (!at)
    return std::nullopt;
  const auto now = std::chrono::steady_clock::now();
  return std::max(*at, now) - now;
}

} // namespace troupe
