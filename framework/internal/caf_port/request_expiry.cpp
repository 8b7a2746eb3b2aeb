#include <troupe/framework/internal/caf_port/request_expiry.hpp>

#include <caf/atom.hpp>
#include <caf/scheduled_actor.hpp>
#include <caf/system_messages.hpp>
#include <caf/type_nr.hpp>

namespace troupe::internal {

bool request_expiry::is_over() noexcept {
  if (state_ == state::undecided) {
    state_ = std::chrono::steady_clock::now() < at_ ? state::current : state::over;
    if (state_ == state::over)
      expired_->fetch_add(1, std::memory_order_relaxed);
  }
  return state_ == state::over;
}

void* request_expiry::dropped_content() noexcept {
  // Neither a type nor a number that CAF uses, so that it does nothing.
  thread_local caf::timeout_msg never{caf::atom("expired"), 0};
  return &never;
}

std::uint32_t request_expiry::dropped_type() noexcept {
  return caf::make_type_token<caf::timeout_msg>();
}

bool is_scheduled(const caf::strong_actor_ptr& actor) noexcept {
  return dynamic_cast<const caf::scheduled_actor*>(actor->get()) != nullptr;
}

std::optional<request_expiry::point> deadline_of(const caf::type_erased_tuple& content) noexcept {
  const auto* expiring = dynamic_cast<const expiring_content*>(&content);
  return expiring != nullptr ? expiring->deadline() : std::nullopt;
}

} // namespace troupe::internal
