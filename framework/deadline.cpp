#include <troupe/framework/deadline.hpp>

#include <caf/mailbox_element.hpp>

#include <troupe/framework/internal/caf_port/request_expiry.hpp>

namespace troupe {

namespace internal {

namespace {

thread_local request_expiry::point carried; // The epoch: none.

} // namespace

sending_deadline::sending_deadline(std::chrono::steady_clock::time_point at) noexcept
    : before_(std::exchange(carried, at)) {}

sending_deadline::~sending_deadline() {
  carried = before_;
}

request_expiry::point carried_deadline() noexcept {
  return carried;
}

} // namespace internal

std::optional<std::chrono::nanoseconds> deadline(caf::local_actor* self) {
  const auto* const current = self->current_mailbox_element();
  const auto at = current != nullptr ? internal::deadline_of(current->content()) : std::nullopt;
  if (!at)
    return std::nullopt;
  const auto now = std::chrono::steady_clock::now();
  return std::max(*at, now) - now;
}

} // namespace troupe
