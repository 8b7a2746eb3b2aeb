#include <troupe/framework/internal/job_queue.hpp>

#include <utility>

namespace troupe::internal {

bool job_queue::add(std::function<void()> job) {
  std::lock_guard guard{mutex_};
  if (is_ended_)
    return false;
  jobs_.push_back(std::move(job));
  if (!thread_.joinable())
    thread_ = std::thread{[this] { run(); }};
  changed_.notify_one();
  return true;
}

void job_queue::run() {
  std::unique_lock guard{mutex_};
  for (;;) {
    changed_.wait(guard, [this] { return is_ended_ || !jobs_.empty(); });
    if (is_ended_)
      return;
    auto job = std::move(jobs_.front());
    jobs_.pop_front();
    guard.unlock();
    job();
    job = nullptr; // What it holds ends outside of the lock.
    guard.lock();
  }
}

void job_queue::end() {
  std::unique_lock guard{mutex_};
  is_ended_ = true;
  auto dropped = std::exchange(jobs_, {});
  auto thread = std::exchange(thread_, {});
  changed_.notify_all();
  guard.unlock();
  if (thread.joinable())
    thread.join();
}

} // namespace troupe::internal
