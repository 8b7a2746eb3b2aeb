// Who dials for a node.
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

/// Something that dials until it has what it wants, is stopped, or the node ends.
class dial {
public:
  virtual ~dial() = default;

  /// Any thread. Only begins: what it does is the I/O thread's.
  virtual void begin() = 0;
  /// Any thread. Tells nobody anything any more.
  virtual void stop() = 0;
  /// I/O thread. Ends what is under way.
  virtual void clean_up() = 0;
};

/// Holds what dials for a node.
///
/// Threads: any.
class dials {
public:
  /// `io` runs until `end` has returned.
  explicit dials(asio::io_context& io) : io_(io) {}

  /// Begins with it, until the node ends. Fails with `link_down` after that.
  [[nodiscard]] std::expected<void, node_error> keep(std::shared_ptr<dial> each);
  /// Has it clean up on the I/O thread and lets go of it; does nothing the second time.
  void let_go(const std::shared_ptr<dial>& each);
  /// Stops all.
  void end();

private:
  void clean_up_soon(std::shared_ptr<dial> each);

  asio::io_context& io_;
  std::mutex mutex_; // Under it something is posted for the I/O thread, which is there until end().
  std::vector<std::shared_ptr<dial>> kept_; // Guarded by mutex_.
  bool has_ended_ = false;                  // Guarded by mutex_.
};

} // namespace troupe::internal
