// Connecting to somebody who listens.
#pragma once

#include <chrono>
#include <expected>
#include <span>
#include <string>

#include <asio/io_context.hpp>

#include <troupe/framework/internal/address.hpp>
#include <troupe/framework/internal/stream_socket.hpp>
#include <troupe/framework/node_error.hpp>

namespace troupe::internal {

using deadline = std::chrono::steady_clock::time_point;

/// What is left until then, at least zero.
[[nodiscard]] std::chrono::milliseconds time_until(deadline then);

/// Connects to the first of `endpoints` that accepts. Fails with `cannot_connect` or `timed_out`. Blocks the caller,
/// who must not be the I/O thread.
[[nodiscard]] std::expected<stream_socket, node_error> dial(asio::io_context& io, const std::string& text,
                                                            std::span<const stream_endpoint> endpoints, deadline until);

} // namespace troupe::internal
