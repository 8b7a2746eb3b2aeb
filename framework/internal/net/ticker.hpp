// The times at which connections write bytes that wait for more.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <asio/execution_context.hpp>

#include <troupe/framework/internal/threads/io_timer.hpp>

namespace troupe::internal {

class connection;

/// The effect of a tick on a connection.
enum class tick_result : std::uint8_t {
  useful, // Bytes had waited for it.
  idle,
  over // No more ticks, until it is added again.
};

/// One tick for all connections of an I/O context. A write costs both ends as much as tens of small messages. So the
/// more connections wrote at the last tick, the later is the next one. A node that streams to many peers then makes no
/// more writes per second than a node that streams to one. No bytes wait for longer than 0.8 ms.
///
/// Threads: the I/O thread.
class ticker final : public asio::execution_context::service {
public:
  using key_type = ticker;

  [[nodiscard]] static ticker& of(asio::io_context& io);

  explicit ticker(asio::execution_context& io);
  ~ticker() override;

  /// Ticks the connection until tick() returns `over`. Requires: not added already.
  void add(std::shared_ptr<connection> what);

private:
  void shutdown() noexcept override;
  void wait();
  void tick();

  std::unique_ptr<io_timer> timer_;
  std::vector<std::shared_ptr<connection>> ticking_;
  int useful_ = 0; // Of the last tick.
};

} // namespace troupe::internal
