// Large messages of one link that wait to be encoded by another thread than their sender's, and whatever has to stay
// behind them.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include <troupe/base/salted_hash.hpp>

namespace troupe::internal {

/// Messages to one receiver keep their order. Pure: wakes nobody and encodes nothing.
///
/// Threads: any, at once; one at a time takes messages out.
template <class Message>
class encoding_lane {
public:
  struct waiting {
    std::uint64_t receiver = 0;
    Message what;
    std::uint64_t size_bytes = 0;
    bool is_answer = false;
    bool may_be_dropped = true;   // To make room for newer ones.
    const void* sender = nullptr; // The message's, as has() is asked.
  };
  enum class entry : std::uint8_t {
    passed,  ///< It need not wait; nothing was taken.
    full,    ///< It would have to wait and has no room; nothing was taken.
    waits,   ///< It was taken.
    wakes,   ///< It was taken, and somebody has to come for it.
    refused, ///< The lane ends; nothing was taken.
  };

  /// Takes a message that is large, or that others to the same receiver are ahead of. The bound is one for answers, and
  /// one for all others; a message that finds half of it free may exceed it.
  [[nodiscard]] entry add(waiting& message, bool is_large, std::uint64_t bytes_max);

  /// The next one, whose place stays taken until done().
  [[nodiscard]] std::optional<waiting> next();
  /// The last one that next() gave has been sent, or will not be. True when there are more: then somebody comes again.
  [[nodiscard]] bool done(std::uint64_t receiver, std::uint64_t size_bytes, bool is_answer);

  /// Quick.
  [[nodiscard]] bool is_idle() const noexcept { return idle_.load(std::memory_order_acquire); }
  [[nodiscard]] bool has(std::uint64_t receiver) const;
  /// Whether one of that sender's is among them.
  [[nodiscard]] bool has(std::uint64_t receiver, const void* sender) const;
  [[nodiscard]] std::uint64_t bytes() const;

  /// Takes no more messages, and calls `then` once it is idle, now or in done().
  void end(std::function<void()> then);
  /// Whether the next message that is no answer finds room, however large it is.
  [[nodiscard]] bool has_room(std::uint64_t bytes_max) const;
  /// Takes out the oldest to that receiver that is no answer and not in work.
  [[nodiscard]] std::optional<waiting> drop_oldest(std::uint64_t receiver);
  /// What still waits; it does not count any more.
  [[nodiscard]] std::vector<waiting> take_all();

private:
  void become_idle(std::unique_lock<std::mutex>& guard);

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::deque<waiting> queue_;
  std::unordered_map<std::uint64_t, std::uint64_t, detail::salted_hash>
      ahead_;                                       // How many, by receiver; the one in work included.
  std::pair<std::uint64_t, const void*> in_work_{}; // Receiver and sender of the one in work.
  std::array<std::uint64_t, 2> bytes_{};            // Of answers the second.
  bool ends_ = false;
  std::function<void()> then_;
  std::atomic<bool> idle_{true};
};

template <class Message>
auto encoding_lane<Message>::add(waiting& message, bool is_large, std::uint64_t bytes_max) -> entry {
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

template <class Message>
auto encoding_lane<Message>::next() -> std::optional<waiting> {
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

template <class Message>
bool encoding_lane<Message>::done(std::uint64_t receiver, std::uint64_t size_bytes, bool is_answer) {
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
template <class Message>
void encoding_lane<Message>::become_idle(std::unique_lock<std::mutex>& guard) {
  idle_.store(true, std::memory_order_release);
  auto then = std::exchange(then_, nullptr);
  guard.unlock();
  if (then)
    then();
}

template <class Message>
bool encoding_lane<Message>::has(std::uint64_t receiver, const void* sender) const {
  if (is_idle())
    return false;
  std::lock_guard guard{mutex_};
  return (sender != nullptr && in_work_ == std::pair{receiver, sender})
         || std::ranges::any_of(
             queue_, [&](const waiting& each) { return each.receiver == receiver && each.sender == sender; });
}

template <class Message>
bool encoding_lane<Message>::has(std::uint64_t receiver) const {
  if (is_idle())
    return false;
  std::lock_guard guard{mutex_};
  return ahead_.contains(receiver);
}

template <class Message>
bool encoding_lane<Message>::has_room(std::uint64_t bytes_max) const {
  if (is_idle())
    return true;
  std::lock_guard guard{mutex_};
  return bytes_[0] <= bytes_max / 2;
}

template <class Message>
auto encoding_lane<Message>::drop_oldest(std::uint64_t receiver) -> std::optional<waiting> {
  std::lock_guard guard{mutex_};
  const auto found = std::ranges::find_if(
      queue_, [&](const waiting& each) { return each.receiver == receiver && !each.is_answer && each.may_be_dropped; });
  if (found == queue_.end())
    return std::nullopt;
  auto dropped = std::move(*found);
  queue_.erase(found);
  bytes_[0] -= dropped.size_bytes;
  if (const auto ahead = ahead_.find(receiver); --ahead->second == 0)
    ahead_.erase(ahead); // Others are in work, else somebody would have come for this one.
  return dropped;
}

template <class Message>
std::uint64_t encoding_lane<Message>::bytes() const {
  std::lock_guard guard{mutex_};
  return bytes_[0] + bytes_[1];
}

template <class Message>
void encoding_lane<Message>::end(std::function<void()> then) {
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

template <class Message>
auto encoding_lane<Message>::take_all() -> std::vector<waiting> {
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
