#include <troupe/framework/internal/handles/pull_turns.hpp>

#include <algorithm>

namespace troupe::internal::handles {

std::optional<reference> pull_turns::next() {
  if (!has_next())
    return std::nullopt;
  ++asked_;
  return queued_.extract(queued_.begin()).mapped();
}

void pull_turns::was_busy() {
  room_for_ = std::max<std::size_t>(asked_, 1);
}

void pull_turns::went_well() {
  if (room_for_ < allowed_)
    ++room_for_;
}

void pull_turns::try_more() {
  if (!queued_.empty() && asked_ >= room_for_)
    room_for_ = std::min(2 * room_for_, allowed_);
}

std::string_view pull_turns::broken_invariant() const {
  if (asked_ > allowed_ || room_for_ > allowed_ || room_for_ == 0)
    return "more pulls than a source may be asked for, or none";
  return {};
}

} // namespace troupe::internal::handles
