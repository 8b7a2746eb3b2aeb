// Finding the endpoints that an address stands for.
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

/// Calls `then` with the endpoints that the address stands for. Only a host's name has to be looked up: by a thread of
/// its own, for which nobody has to wait. Otherwise `then` is called before this returns.
/// Fails with `bad_address`, or with `cannot_connect` if no thread can be started.
void look_up(const address& at, std::function<void(found_endpoints)> then);

/// The same with a wait of at most `timeout`, which fails with `timed_out`. The I/O thread must not call it, except for
/// addresses without a name.
[[nodiscard]] found_endpoints resolve(const address& at, std::chrono::milliseconds timeout);

/// A search for the endpoints of one address, whose end the I/O thread is told.
///
/// Threads: I/O thread only.
/// Lifetime: ends before `io`. The thread that looks up a name may outlive both.
class host_lookup {
public:
  /// Calls `done` once, never before this has returned.
  host_lookup(asio::io_context& io, const address& at, std::function<void(found_endpoints)> done);
  host_lookup(const host_lookup&) = delete;
  host_lookup& operator=(const host_lookup&) = delete;
  /// `done` is not called any more.
  ~host_lookup();

private:
  struct answer;

  const std::shared_ptr<answer> answer_;
};

} // namespace troupe::internal
