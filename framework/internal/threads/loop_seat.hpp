// Where a link runs.
#pragma once

#include <memory>
#include <utility>

namespace asio {
class io_context;
}

namespace troupe::internal {

/// A link's place on one of its node's I/O loops. While it is taken, that loop runs on, and so does the main one, to
/// which links tell what becomes of them.
///
/// Lifetime: must end before the node's loops do.
class loop_seat {
public:
  /// `taken` counts among those of the loop as long as it lives.
  loop_seat(asio::io_context& io, std::shared_ptr<const void> taken) : io_(&io), taken_(std::move(taken)) {}

  /// Stays there after leave().
  [[nodiscard]] asio::io_context& io() const noexcept { return *io_; }
  /// The link has ended. Nothing happens the second time.
  void leave() noexcept { taken_.reset(); }

private:
  asio::io_context* io_;
  std::shared_ptr<const void> taken_;
};

} // namespace troupe::internal
