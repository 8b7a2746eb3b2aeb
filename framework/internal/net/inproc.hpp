// Links within one process: bytes go through memory, messages beside them as they are.
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

/// The two ends of a connection, of which the second listens at the address `at`. Each end's callbacks come on its own
/// I/O thread. Lifetime: an end must be closed, or gone, before its `io` ends; an end that is gone counts as closed.
[[nodiscard]] std::pair<std::shared_ptr<transport>, std::shared_ptr<transport>>
make_inproc_pair(asio::io_context& first, asio::io_context& second, const std::string& at = {});

/// Listens under a name of this process until it is destroyed, which must be before `io` ends.
class inproc_listener {
public:
  /// An end of a connection that nobody has read or written yet.
  struct guest {
    std::shared_ptr<transport> bytes;
    /// Its callbacks come on that I/O context from now on.
    std::function<void(asio::io_context&)> move_to;
  };
  /// Called on `io`'s thread.
  using accepted = std::function<void(guest)>;

  /// Fails with `cannot_connect` when somebody listens there already.
  [[nodiscard]] static std::expected<std::unique_ptr<inproc_listener>, node_error>
  open(asio::io_context& io, const std::string& name, accepted on_accept);

  inproc_listener(const inproc_listener&) = delete;
  inproc_listener& operator=(const inproc_listener&) = delete;
  ~inproc_listener();

private:
  explicit inproc_listener(std::string name) : name_(std::move(name)) {}

  const std::string name_;
};

/// Connects to who listens under that name. Threads: any. Fails with `cannot_connect`.
[[nodiscard]] std::expected<std::shared_ptr<transport>, node_error> dial_inproc(asio::io_context& io,
                                                                                const std::string& name);

} // namespace troupe::internal
