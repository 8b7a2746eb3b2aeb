// The links that a node has lost.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include <troupe/framework/node_activity.hpp>

namespace troupe::internal {

/// Keeps the last links that have ended.
///
/// Threads: any.
class lost_links {
public:
  static constexpr std::size_t kept_max = 32;

  void add(lost_link what) {
    const std::lock_guard guard{mutex_};
    links_.push_back(std::move(what));
    if (links_.size() > kept_max)
      links_.pop_front();
  }

  [[nodiscard]] std::vector<lost_link> all() const {
    const std::lock_guard guard{mutex_};
    return {links_.begin(), links_.end()};
  }

private:
  mutable std::mutex mutex_;
  std::deque<lost_link> links_; // Guarded by mutex_.
};

} // namespace troupe::internal
