// Reads what a worker process writes.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include <asio/posix/stream_descriptor.hpp>

#include <troupe/framework/internal/workers/line_cutter.hpp>

namespace troupe::internal {

/// Reads lines from one pipe.
///
/// Threads: the one that runs the I/O context.
/// Lifetime: hold it until close().
class output_reader : public std::enable_shared_from_this<output_reader> {
public:
  /// Takes over the descriptor, which does not block.
  output_reader(asio::io_context& io, int pipe, line_cutter::receiver receive);

  /// Reads until the end of the pipe or close(). A pipe has at most 64 KiB per turn of the I/O context.
  void start();
  /// Reads what the pipe has, at most 1 MiB, without waiting for its end: other processes may keep it open. Then closes
  /// it.
  void close();

private:
  [[nodiscard]] bool read_some();
  void end();

  asio::posix::stream_descriptor pipe_;
  const line_cutter::receiver receive_;
  line_cutter lines_;
};

} // namespace troupe::internal
