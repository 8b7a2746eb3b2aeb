// A link's place on an I/O loop.
#pragma once

#include <memory>
#include <utility>

namespace asio {
class io_context;
}

namespace troupe::internal {

/// A link's place on one of its node's I/O loops. While the place is taken, that loop and the main loop keep running.
/// The main loop runs too because links report to it.
///
/// Lifetime: ends before the node's loops.
class loop_seat {
public:
  /// While `taken` lives, the link counts for the loop.
  loop_seat(asio::io_context& io, std::shared_ptr<const void> taken) : io_(&io), taken_(std::move(taken)) {}

  /// Valid even after leave().
  [[nodiscard]] asio::io_context& io() const noexcept { return *io_; }
  /// The link has ended. Idempotent.
  void leave() noexcept { taken_.reset(); }

private:
  asio::io_context* io_;
  std::shared_ptr<const void> taken_;
};

} // namespace troupe::internal
