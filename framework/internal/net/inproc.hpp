// Links within one process. Bytes go through memory. Messages are handed over beside them without encoding.
#pragma once

#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <troupe/framework/internal/net/transport.hpp>
#include <troupe/framework/node_errc.hpp>

namespace asio {
class io_context;
}

namespace troupe::internal {

/// Returns the two ends of a connection. The second one listens at the address `at`. Each end's callbacks run on its
/// own I/O thread. Lifetime: an end must be closed or destroyed before its `io` ends. A destroyed end counts as closed.
[[nodiscard]] std::pair<std::shared_ptr<transport>, std::shared_ptr<transport>>
make_inproc_pair(asio::io_context& first, asio::io_context& second, const std::string& at = {});

/// Listens under a name of this process until it is destroyed. Lifetime: ends before `io`.
class inproc_listener {
public:
  /// The accepting end of a connection, not yet read or written.
  struct guest {
    std::shared_ptr<transport> bytes;
    /// Moves the end's callbacks to another I/O context.
    std::function<void(asio::io_context&)> move_to;
  };
  /// Called on `io`'s thread.
  using accepted = std::function<void(guest)>;

  /// Fails with `cannot_connect` if the name is in use.
  [[nodiscard]] static std::expected<std::unique_ptr<inproc_listener>, node_error>
  open(asio::io_context& io, const std::string& name, accepted on_accept);

  inproc_listener(const inproc_listener&) = delete;
  inproc_listener& operator=(const inproc_listener&) = delete;
  ~inproc_listener();

private:
  explicit inproc_listener(std::string name) : name_(std::move(name)) {}

  const std::string name_;
};

/// Connects to the listener of that name. Threads: any. Fails with `cannot_connect`.
[[nodiscard]] std::expected<std::shared_ptr<transport>, node_error> dial_inproc(asio::io_context& io,
                                                                                const std::string& name);

} // namespace troupe::internal
