// Large messages of one link that another thread than their sender's encodes, and the messages that have to stay behind
// them.
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

/// Keeps the order of messages to one receiver. Pure: wakes no thread and encodes nothing.
///
/// Threads: any, concurrently; one thread at a time calls next() and done().
template <class Message>
class encoding_lane {
public:
  struct waiting {
    std::uint64_t receiver = 0;
    Message what;
    std::uint64_t size_bytes = 0;
    bool is_answer = false;
    bool may_be_dropped = true;   // May be dropped to make room for newer messages.
    const void* sender = nullptr; // Compared by has().
  };
  enum class entry : std::uint8_t {
    passed,  ///< It need not wait; nothing was taken.
    full,    ///< It would have to wait, but there is no room; nothing was taken.
    waits,   ///< It was taken.
    wakes,   ///< It was taken, and a thread has to call next().
    refused, ///< The lane is ending; nothing was taken.
  };

  /// Takes a message that is large, or that has to stay behind others to the same receiver. Answers have one bound, and
  /// all other messages another. If half of its bound is free, a message may exceed the bound.
  [[nodiscard]] entry add(waiting& message, bool is_large, std::uint64_t bytes_max);

  /// Returns the next message, which counts until done().
  [[nodiscard]] std::optional<waiting> next();
  /// The message of the last next() was sent or given up. Returns true if there are more: call next() again.
  [[nodiscard]] bool done(std::uint64_t receiver, std::uint64_t size_bytes, bool is_answer);

  /// Takes no lock.
  [[nodiscard]] bool is_idle() const noexcept { return idle_.load(std::memory_order_acquire); }
  [[nodiscard]] bool has(std::uint64_t receiver) const;
  /// Whether a message of that sender to that receiver is waiting or being encoded.
  [[nodiscard]] bool has(std::uint64_t receiver, const void* sender) const;
  [[nodiscard]] std::uint64_t bytes() const;

  /// Takes no more messages. Calls `then` once the lane is idle, now or in done().
  void end(std::function<void()> then);
  /// Whether the next message that is not an answer finds room, however large it is.
  [[nodiscard]] bool has_room(std::uint64_t bytes_max) const;
  /// Removes the oldest waiting message to that receiver that may be dropped and is not an answer.
  [[nodiscard]] std::optional<waiting> drop_oldest(std::uint64_t receiver);
  /// Ends the lane: removes all waiting messages, stops counting any, and drops the callback of end().
  [[nodiscard]] std::vector<waiting> take_all();

private:
  void become_idle(std::unique_lock<std::mutex>& guard);

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::deque<waiting> queue_;
  std::unordered_map<std::uint64_t, std::uint64_t, detail::salted_hash>
      ahead_;                                       // Messages per receiver, including the one being encoded.
  std::pair<std::uint64_t, const void*> in_work_{}; // Receiver and sender of the message being encoded.
  std::array<std::uint64_t, 2> bytes_{};            // The second counts answers.
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
  if (ahead_.empty()) // The message to encode was dropped.
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
    ahead_.erase(ahead); // Not the last one: a message is being encoded, otherwise this one would have been taken.
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
