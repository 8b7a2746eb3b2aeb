// The connections of a directory's calls.
#pragma once

#include <troupe/framework/cluster/internal/etcd/http_connection.hpp>
#include <troupe/framework/cluster/internal/watching/opening_process.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <vector>

namespace troupe::cluster_directories {

/// Lends each call a connection that no other call uses.
///
/// Threads: any.
class connection_pool {
public:
  explicit connection_pool(http_settings settings) : settings_(std::move(settings)) {}

  /// Like http_connection::exchange(). close() stops it. In a forked child it is always stopped: the connections are
  /// those of the parent.
  [[nodiscard]] std::expected<http_answer, http_failure> exchange(const http_post& post,
                                                                  std::chrono::milliseconds patience);

  /// Waits, but not longer than until close().
  void pause(std::chrono::milliseconds time);

  /// Stops calls under way, and all that come later.
  void close();

  [[nodiscard]] bool is_closed() const noexcept { return is_closed_ || !process_.is_current(); }
  [[nodiscard]] bool is_of_this_process() const noexcept { return process_.is_current(); }
  [[nodiscard]] const http_settings& settings() const noexcept { return settings_; }

private:
  [[nodiscard]] std::unique_ptr<http_connection> take();
  void give_back(std::unique_ptr<http_connection> connection);

  const http_settings settings_;
  const opening_process process_;
  std::atomic<bool> is_closed_{false};
  std::mutex mutex_;
  std::condition_variable closing_;
  // Guarded by mutex_.
  std::vector<std::unique_ptr<http_connection>> idle_;
  std::set<http_connection*> lent_;
};

} // namespace troupe::cluster_directories
