#include <troupe/framework/internal/link/recent_sender.hpp>

#include <utility>

#include <troupe/framework/internal/caf_port/proxy.hpp>

namespace troupe::internal {

void recent_sender::end() {
  timer_.reset();
  // Dropping the last reference calls others, which must find this object in a valid state.
  const auto dropped = std::exchange(kept_, nullptr);
}

void recent_sender::replace(const caf::strong_actor_ptr& sender) {
  if (as_proxy(sender) == nullptr)
    return;
  const auto dropped = std::exchange(kept_, sender);
  is_used_ = true;
  if (timer_)
    return;
  timer_ = std::make_shared<io_timer>(io_);
  look_later();
}

void recent_sender::look_later() {
  timer_->expires_after(patience);
  timer_->async_wait([this, mine = std::weak_ptr{timer_}](std::error_code cancelled) {
    if (cancelled || mine.expired())
      return;
    if (std::exchange(is_used_, false))
      look_later();
    else
      end();
  });
}

} // namespace troupe::internal
