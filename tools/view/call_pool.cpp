#include "view/call_pool.hpp"

#include <system_error>
#include <utility>

namespace troupe::tools {

call_pool::~call_pool() {
  {
    const std::lock_guard guard{mutex_};
    is_ending_ = true;
    waiting_.clear();
  }
  changed_.notify_all();
}

void call_pool::run(std::function<void()> call) {
  {
    const std::lock_guard guard{mutex_};
    if (idle_ <= waiting_.size() && threads_.size() < threads_max) {
      try {
        threads_.emplace_back([this] { work(); });
      } catch (const std::system_error&) { // The threads that there are do it later.
      }
    }
    if (!threads_.empty()) {
      waiting_.push_back(std::move(call));
      call = nullptr;
    }
  }
  changed_.notify_one();
  if (call)
    call();
}

void call_pool::work() {
  std::unique_lock guard{mutex_};
  for (;;) {
    ++idle_;
    changed_.wait(guard, [&] { return is_ending_ || !waiting_.empty(); });
    --idle_;
    if (is_ending_)
      return;
    const auto call = std::move(waiting_.front());
    waiting_.pop_front();
    guard.unlock();
    call();
    guard.lock();
  }
}

} // namespace troupe::tools
