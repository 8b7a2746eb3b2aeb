#include <troupe/framework/otlp/span_queue.hpp>

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

namespace troupe::otlp {

bool span_queue::take(span what) noexcept {
  const std::lock_guard guard{mutex_};
  if (is_closed_)
    return false;
  if (spans_.size() + being_sent_ >= spans_max_) {
    ++dropped_;
    return true;
  }
  try {
    spans_.push_back(std::move(what));
  } catch (const std::exception&) { // No memory.
    ++dropped_;
    return true;
  }
  ++came_;
  if (spans_.size() == 1)
    oldest_ = clock::now();
  if (spans_.size() == 1 || spans_.size() == enough_)
    changed_.notify_all();
  return true;
}

std::vector<span> span_queue::next(std::chrono::milliseconds interval) {
  std::unique_lock guard{mutex_};
  const auto is_urgent = [&] { return spans_.size() >= enough_ || is_closed_ || ended_ < hurried_up_to_; };
  for (;;) {
    changed_.wait(guard, [&] { return !spans_.empty() || is_closed_; });
    if (spans_.empty())
      return {};
    changed_.wait_until(guard, oldest_ + interval, is_urgent);
    if (!spans_.empty())
      break;
  }
  const auto count = static_cast<std::ptrdiff_t>(std::min(spans_.size(), enough_));
  std::vector<span> batch{std::make_move_iterator(spans_.begin()), std::make_move_iterator(spans_.begin() + count)};
  spans_.erase(spans_.begin(), spans_.begin() + count);
  being_sent_ = batch.size();
  oldest_ = clock::now();
  return batch;
}

void span_queue::done() {
  const std::lock_guard guard{mutex_};
  ended_ += std::exchange(being_sent_, 0);
  changed_.notify_all();
}

bool span_queue::pause(clock::time_point until) {
  std::unique_lock guard{mutex_};
  return !changed_.wait_until(guard, until, [&] { return is_closed_; });
}

bool span_queue::flush(std::chrono::milliseconds timeout) {
  const auto until = clock::now() + timeout;
  std::unique_lock guard{mutex_};
  const auto mine = came_;
  hurried_up_to_ = std::max(hurried_up_to_, mine);
  changed_.notify_all();
  return changed_.wait_until(guard, until, [&] { return ended_ >= mine; });
}

void span_queue::close() {
  const std::lock_guard guard{mutex_};
  is_closed_ = true;
  changed_.notify_all();
}

std::size_t span_queue::waiting() const {
  const std::lock_guard guard{mutex_};
  return spans_.size() + being_sent_;
}

std::uint64_t span_queue::dropped() const {
  const std::lock_guard guard{mutex_};
  return dropped_;
}

} // namespace troupe::otlp
