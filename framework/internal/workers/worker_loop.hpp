// The thread that starts and watches worker processes.
#pragma once

#include <expected>

#include <troupe/framework/node_errc.hpp>

namespace asio {
class io_context;
}

namespace troupe::internal {

/// The one thread of this process that starts and watches worker processes. It never ends, because the kernel kills a
/// worker when the thread that has started it ends.
///
/// Threads: any.
class worker_loop {
public:
  /// Starts the thread at the first call. Fails with `bad_option` if the system has no thread, and with `unsupported`
  /// in the child of a fork, which does not have the thread.
  [[nodiscard]] static std::expected<worker_loop*, node_error> get();

  /// Runs on the thread.
  [[nodiscard]] asio::io_context& io() noexcept { return io_; }
  /// Whether the caller runs on the thread.
  [[nodiscard]] static bool is_this_thread() noexcept;

private:
  explicit worker_loop(asio::io_context& io) : io_(io) {}
  static void run(asio::io_context& io);

  asio::io_context& io_;
};

} // namespace troupe::internal
