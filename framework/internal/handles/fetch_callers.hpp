// Callers that wait for bytes.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <map>
#include <optional>

#include <troupe/framework/internal/handles/actions.hpp>
#include <troupe/framework/internal/handles/timers.hpp>

namespace troupe::internal::handles {

/// Remembers what each caller waits for, since when, and its deadline.
class fetch_callers {
public:
  explicit fetch_callers(timer_queue& timers) : timers_(timers) {}

  /// Requires: no other caller waits under the name `who`.
  void add(waiter_id who, time_point since, time_point until) {
    const auto [made, is_new] = all_.try_emplace(who, who, since, timers_);
    assert(is_new);
    made->second.limit.set(until);
  }
  /// Requires: the caller waits. limit_of() and since() require the same.
  void wait_for(waiter_id who, reference what) { all_.at(who).what = what; }
  [[nodiscard]] time_point limit_of(waiter_id who) const { return all_.at(who).limit.at(); }
  [[nodiscard]] time_point since(waiter_id who) const { return all_.at(who).since; }
  void erase(waiter_id who) { all_.erase(who); }

  /// Nullopt if the caller does not wait.
  [[nodiscard]] std::optional<reference> find(waiter_id who) const {
    const auto known = all_.find(who);
    return known != all_.end() ? std::optional{known->second.what} : std::nullopt;
  }
  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
  /// Whether each caller's deadline, if any, is in the timer queue.
  [[nodiscard]] bool is_in_order() const {
    return std::ranges::all_of(all_, [](const auto& each) { return each.second.limit.is_in_order(); });
  }

private:
  struct wait {
    wait(waiter_id who, time_point begin, timer_queue& timers)
        : since(begin), limit(timers, timer::kind::waiter, who) {}

    const time_point since;
    reference what;
    deadline limit; // Not set: no deadline.
  };

  timer_queue& timers_;
  std::map<waiter_id, wait> all_;
};

} // namespace troupe::internal::handles
