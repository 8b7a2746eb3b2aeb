#include <troupe/store/internal/spill/disk_queue.hpp>

#include <troupe/store/internal/host/clock.hpp>

namespace troupe::store::internal {

disk_queue::turn::turn(disk_queue& queue, std::int64_t until_ns) : queue_(queue) {
  auto guard = std::unique_lock{queue_.mutex_};
  place_ = queue_.ends_.insert(until_ns);
  queue_.changed_.notify_all(); // The thread with the turn may have less time now.
  queue_.changed_.wait(guard, [this] { return !queue_.is_taken_; });
  queue_.is_taken_ = true;
}

disk_queue::turn::~turn() {
  const auto guard = std::lock_guard{queue_.mutex_};
  queue_.is_taken_ = false;
  queue_.ends_.erase(place_);
  queue_.changed_.notify_all();
}

bool disk_queue::turn::pause(std::chrono::nanoseconds how_long) {
  const auto end_ns = monotonic_ns() + how_long.count();
  auto guard = std::unique_lock{queue_.mutex_};
  for (;;) {
    if (*queue_.ends_.begin() < end_ns) {
      was_cut_short_ = true;
      return false;
    }
    const auto left = std::chrono::nanoseconds{end_ns - monotonic_ns()};
    if (left.count() <= 0)
      return true;
    queue_.changed_.wait_for(guard, left);
  }
}

} // namespace troupe::store::internal
