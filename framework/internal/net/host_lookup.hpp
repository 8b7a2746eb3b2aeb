// Resolves an address to its endpoints.
#pragma once

#include <chrono>
#include <expected>
#include <functional>
#include <memory>
#include <vector>

#include <troupe/framework/internal/net/address.hpp>
#include <troupe/framework/node_errc.hpp>

namespace asio {
class io_context;
}

namespace troupe::internal {

/// At least one endpoint.
using found_endpoints = std::expected<std::vector<stream_endpoint>, node_error>;

/// Calls `then` with the endpoints of the address. A separate thread looks up host names. In all other cases `then` is
/// called before this call returns.
/// Fails with `bad_address`, or with `cannot_connect` if no thread can be started.
void look_up(const address& at, std::function<void(found_endpoints)> then);

/// Blocks for the endpoints for at most `timeout`, then fails with `timed_out`. Also fails as look_up() does. The I/O
/// thread must not call it, except for addresses without a host name.
[[nodiscard]] found_endpoints resolve(const address& at, std::chrono::milliseconds timeout);

/// A lookup of the endpoints of one address, which reports to the I/O thread.
///
/// Threads: I/O thread only.
/// Lifetime: ends before `io`. The thread that looks up a name may outlive both.
class host_lookup {
public:
  /// Calls `done` once, after the constructor has returned.
  host_lookup(asio::io_context& io, const address& at, std::function<void(found_endpoints)> done);
  host_lookup(const host_lookup&) = delete;
  host_lookup& operator=(const host_lookup&) = delete;
  /// Prevents further calls of `done`.
  ~host_lookup();

private:
  struct answer;

  const std::shared_ptr<answer> answer_;
};

} // namespace troupe::internal
