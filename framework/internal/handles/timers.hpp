// Deadlines and their queue.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <set>

namespace troupe::internal::handles {

/// Time since an arbitrary start; never goes back.
using time_point = std::chrono::nanoseconds;
/// The time of a deadline that is not set.
constexpr auto never = time_point::max();

/// One deadline in the queue, and the object to which it belongs.
struct timer {
  enum class kind : std::uint8_t { waiter, fetch, grace, question, parked, dials, retry };

  time_point at{};
  kind what = kind::waiter;
  std::uint64_t owner = 0;  // The waiter, the entry's index, the link, or the node.
  std::uint64_t number = 0; // fetch: the entry's generation. question, parked: the request.

  friend auto operator<=>(const timer&, const timer&) = default;
};

/// Orders deadlines by time. Only its `deadline` changes a row.
class timer_queue {
public:
  void set(const timer& what) { rows_.insert(what); }
  void clear(const timer& what) { rows_.erase(what); }

  [[nodiscard]] std::optional<time_point> next() const {
    return rows_.empty() ? std::nullopt : std::optional{rows_.begin()->at};
  }
  /// Removes and returns the first timer that is due; nullopt if none is.
  [[nodiscard]] std::optional<timer> take_due(time_point now) {
    if (rows_.empty() || rows_.begin()->at > now)
      return std::nullopt;
    return rows_.extract(rows_.begin()).value();
  }
  [[nodiscard]] bool contains(const timer& what) const { return rows_.contains(what); }
  [[nodiscard]] std::size_t size() const noexcept { return rows_.size(); }

private:
  std::set<timer> rows_;
};

/// One deadline: in the queue while it is set, and no longer than this object lives.
class deadline {
public:
  deadline(timer_queue& queue, timer::kind what, std::uint64_t owner, std::uint64_t number = 0)
      : queue_(queue), row_{never, what, owner, number} {}
  deadline(const deadline&) = delete;
  deadline& operator=(const deadline&) = delete;
  ~deadline() { clear(); }

  /// `never` if it is not set.
  [[nodiscard]] time_point at() const noexcept { return row_.at; }
  [[nodiscard]] bool is_set() const noexcept { return row_.at != never; }
  /// Whether the deadline, if set, is in the queue. The caller of take_due() must clear the deadline that it takes.
  [[nodiscard]] bool is_in_order() const { return !is_set() || queue_.contains(row_); }

  void set(time_point at) {
    clear();
    row_.at = at;
    if (is_set())
      queue_.set(row_);
  }
  void clear() {
    if (is_set())
      queue_.clear(row_);
    row_.at = never;
  }

private:
  timer_queue& queue_;
  timer row_;
};

} // namespace troupe::internal::handles
