#include <troupe/framework/internal/flow/encoding_lane.hpp>

#include <algorithm>
#include <utility>

namespace troupe::internal {

encoding_lane::entry encoding_lane::add(waiting& message, bool is_large, std::uint64_t bytes_max) {
  std::lock_guard guard{mutex_};
  if (ends_)
    return entry::refused;
  if (!is_large && !ahead_.contains(message.receiver))
    return entry::passed;
  auto& bytes = bytes_[message.is_answer ? 1 : 0];
  if (bytes > bytes_max / 2 && bytes_max - std::min(bytes, bytes_max) < message.size_bytes)
    return entry::full;
  const auto wakes = ahead_.empty();
  ++ahead_[message.receiver];
  bytes += message.size_bytes;
  queue_.push_back(std::move(message));
  idle_.store(false, std::memory_order_release);
  return wakes ? entry::wakes : entry::waits;
}

std::optional<encoding_lane::waiting> encoding_lane::next() {
  std::unique_lock guard{mutex_};
  if (!queue_.empty()) {
    auto first = std::move(queue_.front());
    queue_.pop_front();
    in_work_ = {first.receiver, first.sender};
    return first;
  }
  if (ahead_.empty()) // What it was called for has been dropped.
    become_idle(guard);
  return std::nullopt;
}

bool encoding_lane::done(std::uint64_t receiver, std::uint64_t size_bytes, bool is_answer) {
  std::unique_lock guard{mutex_};
  if (const auto found = ahead_.find(receiver); found != ahead_.end()) {
    bytes_[is_answer ? 1 : 0] -= size_bytes;
    if (--found->second == 0)
      ahead_.erase(found);
  }
  in_work_ = {};
  if (!ahead_.empty())
    return !queue_.empty();
  become_idle(guard);
  return false;
}

/// Releases the mutex.
void encoding_lane::become_idle(std::unique_lock<std::mutex>& guard) {
  idle_.store(true, std::memory_order_release);
  auto then = std::exchange(then_, nullptr);
  guard.unlock();
  if (then)
    then();
}

bool encoding_lane::has(std::uint64_t receiver, const void* sender) const {
  if (is_idle())
    return false;
  std::lock_guard guard{mutex_};
  return (sender != nullptr && in_work_ == std::pair{receiver, sender})
         || std::ranges::any_of(
             queue_, [&](const waiting& each) { return each.receiver == receiver && each.sender == sender; });
}

bool encoding_lane::has(std::uint64_t receiver) const {
  if (is_idle())
    return false;
  std::lock_guard guard{mutex_};
  return ahead_.contains(receiver);
}

bool encoding_lane::has_room(std::uint64_t bytes_max) const {
  if (is_idle())
    return true;
  std::lock_guard guard{mutex_};
  return bytes_[0] <= bytes_max / 2;
}

std::optional<encoding_lane::waiting> encoding_lane::drop_oldest(std::uint64_t receiver) {
  std::lock_guard guard{mutex_};
  const auto found =
      std::ranges::find_if(queue_, [&](const waiting& each) { return each.receiver == receiver && !each.is_answer; });
  if (found == queue_.end())
    return std::nullopt;
  auto dropped = std::move(*found);
  queue_.erase(found);
  bytes_[0] -= dropped.size_bytes;
  if (const auto ahead = ahead_.find(receiver); --ahead->second == 0)
    ahead_.erase(ahead); // Others are in work, else somebody would have come for this one.
  return dropped;
}

std::uint64_t encoding_lane::bytes() const {
  std::lock_guard guard{mutex_};
  return bytes_[0] + bytes_[1];
}

void encoding_lane::end(std::function<void()> then) {
  std::unique_lock guard{mutex_};
  if (std::exchange(ends_, true))
    return;
  if (!ahead_.empty()) {
    then_ = std::move(then);
    return;
  }
  guard.unlock();
  then();
}

std::vector<encoding_lane::waiting> encoding_lane::take_all() {
  std::lock_guard guard{mutex_};
  ends_ = true;
  then_ = nullptr;
  std::vector<waiting> all;
  for (auto& each : queue_)
    all.push_back(std::move(each));
  queue_.clear();
  ahead_.clear();
  bytes_ = {};
  idle_.store(true, std::memory_order_release);
  return all;
}

} // namespace troupe::internal
