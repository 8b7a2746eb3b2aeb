// A worker's end of the link to the process that has started it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <expected>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>

#include <troupe/framework/link_options.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

class node_core;
class node_link;

/// Ends this process if it takes too long to end by itself.
///
/// Threads: any.
/// Lifetime: the destructor calls it off.
class end_timer {
public:
  explicit end_timer(std::chrono::milliseconds patience) : patience_(patience) {}
  end_timer(const end_timer&) = delete;
  end_timer& operator=(const end_timer&) = delete;
  ~end_timer();

  /// Only the first call counts. From then on the process has `patience` until the destructor.
  void start();

private:
  void run();

  const std::chrono::milliseconds patience_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_off_ = false; // Guarded by mutex_.
  std::thread thread_;  // Guarded by mutex_ until the destructor.
};

/// The link of a worker over the socket that it has inherited.
struct parent_link {
  std::shared_ptr<node_link> link;
  std::shared_future<void> ended; // Ready once the link has ended.
};

/// Takes over the socket, and blocks until the link is open, at most link_options::connect_timeout. `on_end` is called
/// on the I/O thread once the link has ended. Fails as node::connect does.
[[nodiscard]] std::expected<parent_link, node_error> link_with_parent(const std::shared_ptr<node_core>& node,
                                                                      int socket, const link_options& options,
                                                                      std::function<void()> on_end);

} // namespace troupe::internal
