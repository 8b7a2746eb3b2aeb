#include <troupe/framework/internal/lasting/waiting_messages.hpp>

#include <algorithm>
#include <utility>

namespace troupe::internal {

void waiting_messages::add(entry what) {
  const auto bytes = what.bytes;
  entries_.push_back(std::move(what));
  bytes_ += bytes;
}

void waiting_messages::add_again(entry what) {
  auto place = entries_.end(); // The numbers ascend, except for zeros.
  for (auto at = entries_.end(); at != entries_.begin();) {
    --at;
    if (at->number > what.number)
      place = at;
    else if (at->number != 0)
      break;
  }
  if (place != entries_.end())
    what.since = std::min(what.since, place->since);
  bytes_ += what.bytes;
  entries_.insert(place, std::move(what));
}

void waiting_messages::put_back(entry taken) {
  bytes_ += taken.bytes;
  entries_.push_front(std::move(taken));
}

waiting_messages::entry waiting_messages::take_first() {
  auto first = std::move(entries_.front());
  entries_.pop_front();
  bytes_ -= first.bytes;
  return first;
}

std::deque<waiting_messages::entry> waiting_messages::take_all() {
  bytes_ = 0;
  return std::exchange(entries_, {});
}

std::deque<waiting_messages::entry> waiting_messages::take_older_than(clock::time_point then) {
  std::deque<entry> taken;
  while (!entries_.empty() && entries_.front().since < then) {
    bytes_ -= entries_.front().bytes;
    taken.push_back(std::move(entries_.front()));
    entries_.pop_front();
  }
  return taken;
}

std::optional<waiting_messages::clock::time_point> waiting_messages::oldest() const {
  return entries_.empty() ? std::nullopt : std::optional{entries_.front().since};
}

} // namespace troupe::internal
