#include <troupe/framework/cluster/internal/etcd/connection_pool.hpp>

namespace troupe::cluster_directories {

namespace {

constexpr std::size_t idle_connections_max = 4;

} // namespace

std::expected<http_answer, http_failure> connection_pool::exchange(const http_post& post,
                                                                   std::chrono::milliseconds patience) {
  if (is_closed())
    return std::unexpected{http_failure{http_failure::kind::stopped, "stopped"}};
  auto connection = take();
  if (connection == nullptr)
    return std::unexpected{http_failure{http_failure::kind::broken, "no memory for a connection"}};
  auto answer = connection->exchange(post, patience, [this] { return is_closed(); });
  give_back(std::move(connection));
  return answer;
}

void connection_pool::pause(std::chrono::milliseconds time) {
  std::unique_lock guard{mutex_};
  closing_.wait_for(guard, time, [this] { return is_closed(); });
}

void connection_pool::close() {
  if (!process_.is_current())
    return;
  const std::lock_guard guard{mutex_};
  is_closed_ = true;
  closing_.notify_all();
  for (auto* const each : lent_)
    each->wake();
  idle_.clear();
}

std::unique_ptr<http_connection> connection_pool::take() {
  std::unique_ptr<http_connection> connection;
  {
    const std::lock_guard guard{mutex_};
    if (!idle_.empty()) {
      connection = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (connection == nullptr)
    if (auto made = http_connection::make(settings_))
      connection = *std::move(made);
  const std::lock_guard guard{mutex_};
  if (connection != nullptr)
    lent_.insert(connection.get());
  return connection;
}

void connection_pool::give_back(std::unique_ptr<http_connection> connection) {
  const std::lock_guard guard{mutex_};
  lent_.erase(connection.get());
  if (!is_closed_ && idle_.size() < idle_connections_max)
    idle_.push_back(std::move(connection));
}

} // namespace troupe::cluster_directories
