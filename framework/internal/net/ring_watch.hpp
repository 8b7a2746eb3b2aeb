// The rings that an I/O thread looks at rather than waits for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <asio/execution_context.hpp>

namespace asio {
class io_context;
}

namespace troupe::internal {

/// A ring that somebody wants to read.
class watched_ring {
public:
  virtual ~watched_ring() = default;
  /// Handles what is there; false where nothing is.
  virtual bool look() = 0;
  /// Has the writer wake the I/O context when there is something. False where something is there already.
  virtual bool sleep() = 0;
};

/// Looks at the rings of an I/O context that have had something of late. A writer need not wake a reader that is
/// looked at, and waking is what costs most. A ring that is looked at in vain for long sleeps, and so do all of them
/// before their thread does.
///
/// Threads: the I/O thread, but for is_driven().
class ring_watch final : public asio::execution_context::service {
public:
  using key_type = ring_watch;

  [[nodiscard]] static ring_watch& of(asio::io_context& io);

  explicit ring_watch(asio::execution_context& io) : asio::execution_context::service(io) {}

  /// Whoever runs the I/O context looks, and calls sleep() before it waits.
  void drive() noexcept { is_driven_ = true; }
  [[nodiscard]] bool is_driven() const noexcept { return is_driven_; }

  /// Until it sleeps. Requires: not there already.
  void add(std::shared_ptr<watched_ring> ring) { looked_at_.push_back({std::move(ring), 0}); }
  [[nodiscard]] bool empty() const noexcept { return looked_at_.empty(); }

  /// Each ring once; how many had something.
  std::size_t look();
  /// The same, from time to time, by a thread that has other work: whoever has had nothing for long sleeps.
  std::size_t look_in_passing();
  /// False where one of them has something.
  [[nodiscard]] bool sleep();

private:
  struct entry {
    std::shared_ptr<watched_ring> ring;
    std::uint32_t vain_looks; // In a row, in passing.
  };

  void shutdown() noexcept override { looked_at_.clear(); }

  std::vector<entry> looked_at_;
  bool is_driven_ = false; // Set before there are rings.
};

} // namespace troupe::internal
