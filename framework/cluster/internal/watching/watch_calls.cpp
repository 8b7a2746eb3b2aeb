#include <troupe/framework/cluster/internal/watching/watch_calls.hpp>

namespace troupe::cluster_directories {

template <class Call>
void watch_calls::run(bool is_last, Call&& call) {
  {
    std::unique_lock guard{mutex_};
    idle_.wait(guard, [&] { return runs_in_ == std::thread::id{}; });
    if (is_over_)
      return;
    is_over_ = is_last;
    runs_in_ = std::this_thread::get_id();
  }
  call();
  const std::lock_guard guard{mutex_};
  runs_in_ = {};
  idle_.notify_all();
}

void watch_calls::changes(std::span<const directory_change> what, std::uint64_t revision) {
  run(false, [&] {
    if (handlers_.on_changes)
      handlers_.on_changes(what, revision);
  });
}

void watch_calls::end(const directory_error& why) {
  run(true, [&] {
    if (handlers_.on_end)
      handlers_.on_end(why);
  });
}

void watch_calls::stop() {
  std::unique_lock guard{mutex_};
  is_over_ = true;
  if (runs_in_ != std::this_thread::get_id())
    idle_.wait(guard, [&] { return runs_in_ == std::thread::id{}; });
}

bool watch_calls::is_over() const {
  const std::lock_guard guard{mutex_};
  return is_over_;
}

} // namespace troupe::cluster_directories
