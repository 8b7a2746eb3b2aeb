// The dials of a node.
#pragma once

#include <expected>
#include <memory>
#include <mutex>
#include <vector>

#include <troupe/framework/node_errc.hpp>

namespace asio {
class io_context;
}

namespace troupe::internal {

/// Dials until it has its link, is stopped, or the node ends.
class dial {
public:
  virtual ~dial() = default;

  /// Any thread. Only starts the work, which the I/O thread does.
  virtual void begin() = 0;
  /// Any thread. Stops all notifications.
  virtual void stop() = 0;
  /// I/O thread. Ends all work in progress.
  virtual void clean_up() = 0;
};

/// Holds the dials of a node.
///
/// Threads: any.
class dials {
public:
  /// `io` runs until `end` has returned.
  explicit dials(asio::io_context& io) : io_(io) {}

  /// Holds and starts the dial until the node ends. Fails with `link_down` after that.
  [[nodiscard]] std::expected<void, node_error> keep(std::shared_ptr<dial> each);
  /// Releases the dial, which cleans up on the I/O thread. Does nothing the second time.
  void let_go(const std::shared_ptr<dial>& each);
  /// Stops all dials.
  void end();

private:
  void clean_up_soon(std::shared_ptr<dial> each);

  asio::io_context& io_;
  std::mutex mutex_; // While it is held, work is posted to the I/O thread, which runs until end().
  std::vector<std::shared_ptr<dial>> kept_; // Guarded by mutex_.
  bool has_ended_ = false;                  // Guarded by mutex_.
};

} // namespace troupe::internal
