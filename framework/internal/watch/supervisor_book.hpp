// The supervisors of an actor system.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <troupe/framework/node_activity.hpp>

namespace troupe::internal {

/// Tells about one supervisor while it runs. Threads: any.
class watched_supervisor {
public:
  virtual ~watched_supervisor() = default;

  [[nodiscard]] virtual supervisor_activity now() const = 0;
};

/// Lists the supervisors of an actor system. They leave when they are destroyed.
///
/// Threads: any.
class supervisor_book {
public:
  void enter(std::weak_ptr<const watched_supervisor> which) {
    const std::lock_guard guard{mutex_};
    if (listed_.size() >= look_at_) { // So each entry costs a constant time.
      drop_ended();
      look_at_ = std::max(look_at_first, 2 * listed_.size());
    }
    listed_.push_back(std::move(which));
  }

  /// Those that run, in the order in which they began.
  [[nodiscard]] std::vector<std::shared_ptr<const watched_supervisor>> all() {
    std::vector<std::shared_ptr<const watched_supervisor>> result;
    const std::lock_guard guard{mutex_};
    drop_ended();
    for (const auto& each : listed_)
      if (auto running = each.lock())
        result.push_back(std::move(running));
    return result;
  }

  /// How many entries there are, including those of supervisors that have ended and were not noticed.
  [[nodiscard]] std::size_t size() const {
    const std::lock_guard guard{mutex_};
    return listed_.size();
  }

private:
  static constexpr std::size_t look_at_first = 64;

  void drop_ended() {
    std::erase_if(listed_, [](const auto& each) { return each.expired(); });
  }

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<std::weak_ptr<const watched_supervisor>> listed_;
  std::size_t look_at_ = look_at_first;
};

} // namespace troupe::internal
