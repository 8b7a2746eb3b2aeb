#include <troupe/framework/internal/threads/job_queue.hpp>

#include <utility>

#include <troupe/framework/internal/threads/new_thread.hpp>

namespace troupe::internal {

bool job_queue::add(std::function<void()> job) {
  std::lock_guard guard{mutex_};
  if (is_ended_)
    return false;
  jobs_.push_back(std::move(job));
  (void)start_locked("waiting for a store needs a thread");
  changed_.notify_one();
  return true;
}

std::expected<void, node_error> job_queue::start(std::string_view whose) {
  std::lock_guard guard{mutex_};
  return start_locked(whose);
}

/// Requires: the lock is held.
std::expected<void, node_error> job_queue::start_locked(std::string_view whose) {
  if (thread_.joinable())
    return {};
  auto made = new_thread(whose, [this] { run(); });
  if (!made)
    return std::unexpected{std::move(made).error()};
  thread_ = *std::move(made);
  return {};
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
    job = nullptr; // Destroys the job's captures without the lock.
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
