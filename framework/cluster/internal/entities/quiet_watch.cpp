#include <troupe/framework/cluster/internal/entities/quiet_watch.hpp>

#include <algorithm>
#include <thread>
#include <utility>

namespace troupe::membership {

bool quiet_watch::wait(std::chrono::milliseconds quiet_time, const std::function<bool()>& is_under_way,
                       clock::time_point until) const {
  auto busy_at = clock::now();
  auto was_under_way = is_under_way();
  const auto quiet_at = [&] { return std::max(busy_at, last_.load()) + quiet_time; };
  for (;;) {
    std::this_thread::sleep_until(std::min<clock::time_point>(quiet_at(), until));
    const auto now = clock::now();
    const auto is_busy = is_under_way();
    if (std::exchange(was_under_way, is_busy) || is_busy)
      busy_at = now;
    if (now >= quiet_at())
      return true;
    if (now >= until)
      return false;
  }
}

} // namespace troupe::membership
