#include <troupe/framework/cluster/internal/entities/work_threads.hpp>

#include <mutex>
#include <optional>
#include <utility>

#include <asio/post.hpp>
#include <asio/thread_pool.hpp>

namespace troupe::membership {

class work_threads::pool {
public:
  explicit pool(unsigned count) : count_(count) {}

  void run(std::function<void()> what) {
    const std::lock_guard guard{mutex_};
    if (is_stopped_)
      return;
    if (!threads_)
      threads_.emplace(count_);
    asio::post(*threads_, std::move(what));
  }
  void end() {
    {
      const std::lock_guard guard{mutex_};
      is_stopped_ = true;
      if (!threads_)
        return;
      threads_->stop();
    }
    threads_->join();
  }

private:
  const unsigned count_;
  std::mutex mutex_;
  // Guarded by mutex_.
  bool is_stopped_ = false;
  std::optional<asio::thread_pool> threads_;
};

work_threads::work_threads(unsigned count) : pool_(std::make_unique<pool>(count)) {}

work_threads::~work_threads() = default;

void work_threads::run(std::function<void()> what) {
  pool_->run(std::move(what));
}

void work_threads::end() {
  pool_->end();
}

} // namespace troupe::membership
