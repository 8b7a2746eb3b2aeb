// Values that are kept only while somebody asks for them.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <mutex>
#include <utility>
#include <vector>

namespace troupe::internal {

/// Numbers the values that are added, and keeps the last ones: from the first question until nobody has asked for some
/// time. A T has the member `number`.
///
/// Threads: any.
template <class T>
class recent_list {
public:
  using clock = std::chrono::steady_clock;

  explicit recent_list(std::size_t most) : most_(most) {}

  /// Cheap. While it returns false, add() has no effect.
  [[nodiscard]] bool is_kept() const noexcept { return is_kept_.load(std::memory_order_relaxed); }

  void add(T value) {
    const std::lock_guard guard{mutex_};
    if (!is_kept())
      return;
    value.number = ++last_number_;
    values_.push_back(std::move(value));
    if (values_.size() > most_)
      values_.pop_front();
  }

  struct part {
    std::vector<T> values;
    std::uint64_t lost = 0; // With numbers above `after`, and dropped for newer ones.
  };
  /// The values with numbers above `after`. Begins to keep values.
  [[nodiscard]] part ask(std::uint64_t after, clock::time_point now) {
    const std::lock_guard guard{mutex_};
    asked_at_ = now;
    if (!is_kept())
      number_before_ = last_number_;
    is_kept_.store(true, std::memory_order_relaxed);
    const auto first_kept = last_number_ - values_.size() + 1;
    const auto first_wanted = std::max(number_before_, std::min(after, last_number_)) + 1;
    part result;
    result.lost = first_kept > first_wanted ? first_kept - first_wanted : 0;
    std::ranges::copy_if(values_, std::back_inserter(result.values),
                         [&](const T& each) { return each.number > after; });
    return result;
  }

  /// Drops all values, unless somebody has asked at that time or later. Returns whether values are kept.
  bool drop_unless_asked_since(clock::time_point then) {
    const std::lock_guard guard{mutex_};
    if (is_kept() && asked_at_ >= then)
      return true;
    is_kept_.store(false, std::memory_order_relaxed);
    std::deque<T>{}.swap(values_);
    return false;
  }

private:
  const std::size_t most_;
  std::atomic<bool> is_kept_{false};
  std::mutex mutex_;
  // Guarded by mutex_.
  std::deque<T> values_;
  std::uint64_t last_number_ = 0;
  std::uint64_t number_before_ = 0; // The last number before these values were kept.
  clock::time_point asked_at_;
};

} // namespace troupe::internal
