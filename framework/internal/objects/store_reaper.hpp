// Cleanup in a store after a process that shared it is gone.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <utility>

#include <troupe/framework/internal/threads/io_timer.hpp>

namespace troupe::internal {

/// Cleans up after processes that are gone. It does so at once and repeatedly for a while, because a dying process
/// closes its sockets before it is seen to be dead.
///
/// Threads: the I/O thread of `io`.
class store_reaper : public std::enable_shared_from_this<store_reaper> {
public:
  static constexpr int reaps_max = 10; // For each process that goes, `pause` apart.

  /// `reap` cleans up after every process that is known to be dead by now.
  store_reaper(asio::io_context& io, std::function<void()> reap,
               std::chrono::milliseconds pause = std::chrono::milliseconds{100})
      : reap_(std::move(reap)), pause_(pause), timer_(io) {}

  /// Another process is gone, perhaps killed.
  void reap_soon();
  /// Stops waiting. After processes that go later, cleans up only once.
  void end();

private:
  void reap_next();

  const std::function<void()> reap_;
  const std::chrono::milliseconds pause_;
  io_timer timer_;
  int reaps_left_ = 0;
  bool has_ended_ = false;
};

} // namespace troupe::internal
