#include <troupe/framework/internal/lasting/waiting_messages.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace troupe::internal {

void waiting_messages::add(entry what) {
  const auto bytes = what.bytes;
  entries_.push_back(std::move(what));
  bytes_ += bytes;
}

void waiting_messages::add_again(entry what) {
  const auto later = std::ranges::find_if(entries_, [&](const auto& each) { return each.number > what.number; });
  bytes_ += what.bytes;
  entries_.insert(later, std::move(what));
}

void waiting_messages::put_back(std::deque<entry> taken) {
  for (const auto& each : taken)
    bytes_ += each.bytes;
  entries_.insert(entries_.begin(), std::make_move_iterator(taken.begin()), std::make_move_iterator(taken.end()));
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
