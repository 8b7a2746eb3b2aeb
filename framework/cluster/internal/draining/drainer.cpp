#include <troupe/framework/cluster/internal/draining/drainer.hpp>

#include <algorithm>
#include <utility>

namespace troupe::membership {

drainer::enrolment::enrolment(drainer& in, part what) : in_(in) {
  const std::lock_guard turn{in_.turn_};
  at_ = in_.parts_.insert(in_.parts_.end(), std::move(what));
  if (in_.is_draining_)
    (*at_)(true);
}

drainer::enrolment::~enrolment() {
  const std::lock_guard turn{in_.turn_};
  in_.parts_.erase(at_);
}

void drainer::drain_for(drain_reason why, bool is_so) {
  const std::lock_guard turn{turn_};
  reasons_.at(static_cast<std::size_t>(why)) = is_so;
  const auto drains = std::ranges::find(reasons_, true) != reasons_.end();
  if (is_draining_.exchange(drains) == drains)
    return;
  for (const auto& each : parts_)
    each(drains);
}

bool drainer::has(drain_reason why) const {
  const std::lock_guard turn{turn_};
  return reasons_.at(static_cast<std::size_t>(why));
}

} // namespace troupe::membership
