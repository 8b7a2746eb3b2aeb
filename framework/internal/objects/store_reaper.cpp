#include <troupe/framework/internal/objects/store_reaper.hpp>

#include <system_error>

namespace troupe::internal {

void store_reaper::reap_soon() {
  const bool is_under_way = reaps_left_ > 0;
  reaps_left_ = has_ended_ ? 1 : reaps_max;
  if (!is_under_way)
    reap_next();
}

void store_reaper::end() {
  has_ended_ = true;
  reaps_left_ = 0;
  timer_.cancel();
}

void store_reaper::reap_next() {
  reap_();
  if (--reaps_left_ <= 0)
    return;
  timer_.expires_after(pause_);
  timer_.async_wait([weak = weak_from_this()](std::error_code cancelled) {
    const auto self = weak.lock();
    if (!cancelled && self && self->reaps_left_ > 0)
      self->reap_next();
  });
}

} // namespace troupe::internal
