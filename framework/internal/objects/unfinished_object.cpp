#include <troupe/framework/internal/objects/unfinished_object.hpp>

#include <chrono>
#include <utility>

namespace troupe::internal {

using clock = std::chrono::steady_clock;

unfinished_object::~unfinished_object() {
  if (finishing_ != 0)
    counted_->cancel(finishing_);
}

void unfinished_object::finish() {
  const auto id = counted_->fetch(clock::time_point::max(), [weak = weak_from_this()](const auto& found) {
    const auto self = weak.lock();
    if (!self || !found)
      return; // A later fetch tries again.
    std::unique_lock guard{self->mutex_};
    const auto dropped = std::exchange(self->bytes_, std::nullopt);
    guard.unlock(); // Objects that the bytes capture are released outside the lock.
  });
  std::lock_guard guard{mutex_};
  finishing_ = id;
}

std::optional<frame> unfinished_object::own_bytes() const {
  std::lock_guard guard{mutex_};
  return bytes_;
}

std::optional<frame> unfinished_object::here() const {
  auto own = own_bytes();
  return own ? std::move(own) : counted_->here();
}

std::optional<frame> unfinished_object::here_at_once() const {
  auto own = own_bytes();
  return own ? std::move(own) : counted_->here_at_once();
}

std::optional<node_error> unfinished_object::why_lost() const {
  return own_bytes() ? std::nullopt : counted_->why_lost();
}

object_source::fetch_id unfinished_object::fetch(clock::time_point until, answer then) {
  if (auto own = own_bytes()) {
    then(*std::move(own));
    return 0;
  }
  return counted_->fetch(until, std::move(then));
}

} // namespace troupe::internal
