#include <troupe/framework/internal/link/recent_sender.hpp>

#include <utility>

#include <troupe/framework/internal/caf_port/proxy.hpp>

namespace troupe::internal {

void recent_sender::end() {
  timer_.reset();
  // Of the last reference's end others are told, who must not find this half-way.
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
