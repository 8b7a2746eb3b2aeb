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

  asio::thread_pool& threads() {
    const std::lock_guard guard{mutex_};
    if (!threads_)
      threads_.emplace(count_);
    return *threads_;
  }
  void end() {
    if (threads_)
      threads_->join();
  }

private:
  const unsigned count_;
  std::mutex mutex_;
  std::optional<asio::thread_pool> threads_; // Guarded by mutex_.
};

work_threads::work_threads(unsigned count) : pool_(std::make_unique<pool>(count)) {}

work_threads::~work_threads() {
  pool_->end();
}

void work_threads::run(std::function<void()> what) {
  asio::post(pool_->threads(), std::move(what));
}

} // namespace troupe::membership
